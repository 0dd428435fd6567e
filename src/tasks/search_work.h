// One model's search on the threads of a pool: each thread has a batch of its own, all are filled
// from one queue.
#ifndef ATTEND_TASKS_SEARCH_WORK_H_
#define ATTEND_TASKS_SEARCH_WORK_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/work_pool.h"
#include "engine/activations.h"
#include "engine/weights.h"
#include "model/shortlist.h"
#include "search/search_batch.h"
#include "tasks/ensemble.h"
#include "tasks/loaded_model.h"

namespace attend {

// A queue that many threads use at once.
class SharedQueue : public SearchQueue {
 public:
  // Whether time is to be taken, and what a step took.
  virtual bool Timed() { return false; }
  virtual void Spent(const WorkSeconds& /*seconds*/) {}
};

// What is searched with. The weights must outlive it.
struct SearchModel {
  const Weights* weights;
  std::shared_ptr<const Shortlist> shortlist;  // null: outputs may hold the whole vocabulary
  SearchOptions options;
  MakeStepper make_stepper = nullptr;  // null: of the engine, over the weights
  // Several models, which search in place of the one; null: one. Must outlive it, too.
  const Ensemble* ensemble = nullptr;
};

// Threads that have no item share the large products of one that is alone. Whoever puts an
// item into the queue calls the pool's Wake.
class SearchWork : public PoolWork {
 public:
  // Queue and pool must outlive it.
  SearchWork(const SearchModel& model, SharedQueue* queue, WorkPool* pool);
  ~SearchWork() override;

  bool Step(int worker) override;
  std::shared_ptr<Team> TeamToServe() override;
  void Release() override;

 private:
  struct Thread {
    Thread(const SearchModel& model, SharedQueue* queue, int worker);

    Activations activations;
    std::unique_ptr<Stepper> stepper;
    SearchBatch batch;
    int64_t counted = 0;         // of its items, in sentences_
    std::shared_ptr<Team> team;  // while its only item is alone
  };
  void Search(Thread* thread);
  void Count(Thread* thread);
  void GiveTeam(Thread* thread);
  void EndTeam(Thread* thread);

  SharedQueue* queue_;
  WorkPool* pool_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::atomic<int64_t> sentences_{0};  // items of all threads
  std::mutex mutex_;
  std::shared_ptr<Team> team_;  // that threads may serve
};

}  // namespace attend

#endif  // ATTEND_TASKS_SEARCH_WORK_H_
