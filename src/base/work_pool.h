// Threads that many pieces of work share, step by step: none waits for another to end.
#ifndef ATTEND_BASE_WORK_POOL_H_
#define ATTEND_BASE_WORK_POOL_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/team.h"

namespace attend {

// Work for the threads of a pool, which call it concurrently.
class PoolWork {
 public:
  virtual ~PoolWork() = default;
  // Does one short step on thread `worker`. false: nothing to do for it now. Must not throw.
  virtual bool Step(int worker) = 0;
  // A team that idle threads may help, or null. Neither this function nor Release may call the
  // pool.
  virtual std::shared_ptr<Team> TeamToServe() { return nullptr; }
  // Dismisses the team: its helpers have steps of their own to do.
  virtual void Release() {}
};

// Safe to use from many threads, but for the constructor and destructor.
class WorkPool {
 public:
  // Throws Error(kRuntime) if the system can't start so many; then none keeps running.
  explicit WorkPool(int threads);
  // All work must have been removed.
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  int size() const { return static_cast<int>(threads_.size()); }

  // The pool runs its steps until Remove. Works that have steps get equal time.
  void Add(PoolWork* work);
  // Returns once no thread runs a step of it. Not to be called from a step.
  void Remove(PoolWork* work);
  // Tells the pool that some work has new steps.
  void Wake();
  // Tells the pool that some work has a team.
  void CallForHelp();

  // Calls body(task, worker) once for each task in [0, tasks), worker in [0, size()), on the pool's
  // threads, and returns when all are done. Tasks are handed out in order. The first exception
  // thrown by a body is thrown here. Callers share the threads. Not to be called from a step.
  void ParallelFor(int64_t tasks, const std::function<void(int64_t task, int worker)>& body);

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    PoolWork* work = nullptr;
    Clock::duration used{0};  // of all threads
    int inside = 0;           // threads
    bool removed = false;
  };

  void Stop();
  void Run(int worker);
  // Does a step of the first work that has one. false: none has.
  bool Step(int worker, std::span<const std::shared_ptr<Entry>> order,
            std::unique_lock<std::mutex>* lock);
  std::shared_ptr<Team> TeamToServe() const;

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_, left_;
  std::vector<std::shared_ptr<Entry>> entries_;
  // Time used by the work that ran last, before its step. A work that was idle continues from this
  // value: it gets no credit for the time that it did not use.
  Clock::duration used_{0};
  uint64_t calls_ = 0;  // of Wake and CallForHelp
  bool stopping_ = false;
};

}  // namespace attend

#endif  // ATTEND_BASE_WORK_POOL_H_
