// Where the sentences of all clients wait for one model's batches: bounded, interactive requests
// before bulk.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_REQUEST_QUEUE_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_REQUEST_QUEUE_H_

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "tasks/translation/continuous_translator.h"

namespace attend {

struct Job;

struct JobSentence : Sentence {
  Job* job = nullptr;
  SentenceResult result;
};

// One request. Filled by its maker, then the queue's until it has ended.
struct Job {
  std::vector<JobSentence> sentences;  // at least one
  bool bulk = false;
  // Called from an engine thread, one call at a time for each job.
  std::function<void(const JobSentence&)> on_sentence;  // may be empty
  // Once: all sentences have their results, or one failed. Not called for a job that is cancelled.
  // Where it throws std::bad_alloc, nobody hears of the end.
  std::function<void(std::exception_ptr)> on_end;

 private:
  friend class RequestQueue;
  std::atomic<bool> unwanted_{false};
  size_t left_ = 0;
  std::mutex calling_;
};

// Safe to use from many threads.
class RequestQueue : public SentenceQueue {
 public:
  // `capacity` counts sentences that wait; `room`: what is searched at once on a thread of `pool`,
  // which is woken when sentences come.
  RequestQueue(int64_t capacity, const SearchRoom& room, WorkPool* pool)
      : capacity_(capacity), room_(room), pool_(pool) {}

  // False: there is no room, and the job is not taken.
  bool TryPut(const std::shared_ptr<Job>& job);
  // For one sentence; by the time of TryPut it may be gone.
  bool HasRoom() const;
  // Its sentences leave, those that run too.
  void Cancel(const std::shared_ptr<Job>& job);
  // Cancels everything, and takes no more.
  void Close();

  int64_t waiting() const;
  int64_t live() const;

  const Sentence* Next(const SearchLoad& load) override;
  bool Wanted(const Sentence& sentence) override;
  void Done(const Sentence& sentence, SentenceResult result) override;
  void Dropped(const Sentence& sentence) override;
  void Failed(const Sentence& sentence, std::exception_ptr error) override;

 private:
  static Job* JobOf(const Sentence& sentence);
  static void End(const Job& job, const std::exception_ptr& error);
  int64_t Waiting() const { return std::ssize(interactive_) + std::ssize(bulk_); }
  void TakeBack(Job* job);
  // A sentence of the job has left; the job itself where it was the last.
  std::shared_ptr<Job> Leave(Job* job, size_t sentences);

  const int64_t capacity_;
  const SearchRoom room_;
  WorkPool* pool_;
  mutable std::mutex mutex_;
  std::deque<const JobSentence*> interactive_, bulk_;
  std::unordered_map<Job*, std::shared_ptr<Job>> jobs_;  // with sentences that wait or run
  int64_t live_ = 0;
  int64_t taken_ = 0;
  bool closed_ = false;
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_REQUEST_QUEUE_H_
