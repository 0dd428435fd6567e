// Where what all clients ask of one model waits for its batches: bounded, interactive requests
// before bulk.
#ifndef ATTEND_SERVE_REQUEST_QUEUE_H_
#define ATTEND_SERVE_REQUEST_QUEUE_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/fields.h"
#include "base/work_pool.h"
#include "search/search.h"

namespace attend {

enum class Priority { kAuto, kInteractive, kBulk };

// How long a request may wait, and behind whom.
struct QueueOptions {
  Priority priority = Priority::kAuto;
  int64_t deadline_ms = 0;

  // Of a request of so many items.
  bool IsBulk(int64_t items) const;
};
FieldList Fields(QueueOptions& options);

struct Job;

// A part of a request that is searched by itself: a sentence, a prompt or a text.
struct JobItem {
  Job* job = nullptr;
  int64_t room = 0;  // tokens of a SearchRoom that it takes
};

// What one request asks of one model. Filled by its maker, then the queue's until it has ended.
struct Job {
  virtual ~Job() = default;
  // At least one.
  virtual std::vector<JobItem*> Items() = 0;

  bool bulk = false;
  // Once: all items have their results, or one failed. Not called for a job that is cancelled.
  // Where it throws std::bad_alloc, nobody hears of the end.
  std::function<void(std::exception_ptr)> on_end;

 private:
  friend class RequestQueue;
  std::atomic<bool> unwanted_{false};
  size_t left_ = 0;
  std::mutex calling_;
};

// Safe to use from many threads.
class RequestQueue {
 public:
  // `capacity` counts items that wait; `room`: what is searched at once on a thread of `pool`,
  // which is woken when items come.
  RequestQueue(int64_t capacity, const SearchRoom& room, WorkPool* pool)
      : capacity_(capacity), room_(room), pool_(pool) {}

  // False: there is no room, and the job is not taken.
  bool TryPut(const std::shared_ptr<Job>& job);
  // For one item; by the time of TryPut it may be gone.
  bool HasRoom() const;
  // Its items leave, those that run too.
  void Cancel(const std::shared_ptr<Job>& job);
  // Cancels everything, and takes no more.
  void Close();

  int64_t capacity() const { return capacity_; }
  int64_t waiting() const;
  int64_t live() const;
  // Items that can run at once.
  int64_t most_live() const;

  // For the search. An item belongs to the caller of Next until one of Done, Dropped and Failed.
  // Null: none for a thread that holds so much.
  JobItem* Next(const SearchLoad& load);
  // Asked before every step: false, and the item is dropped.
  static bool Wanted(const JobItem& item) { return !item.job->unwanted_; }
  // `keep` takes the result of an item that is still wanted, one call at a time for each job.
  void Done(const JobItem& item, const std::function<void()>& keep);
  void Dropped(const JobItem& item);
  void Failed(const JobItem& item, const std::exception_ptr& error);

 private:
  static void End(const Job& job, const std::exception_ptr& error);
  int64_t Waiting() const { return std::ssize(interactive_) + std::ssize(bulk_); }
  void TakeBack(Job* job);
  // Items of the job have left; the job itself where they were the last.
  std::shared_ptr<Job> Leave(Job* job, size_t items);

  const int64_t capacity_;
  const SearchRoom room_;
  WorkPool* pool_;
  mutable std::mutex mutex_;
  std::deque<JobItem*> interactive_, bulk_;
  std::unordered_map<Job*, std::shared_ptr<Job>> jobs_;  // with items that wait or run
  int64_t live_ = 0;
  int64_t taken_ = 0;
  bool closed_ = false;
};

}  // namespace attend

#endif  // ATTEND_SERVE_REQUEST_QUEUE_H_
