#include "serve/request_queue.h"

#include <algorithm>
#include <new>

namespace attend {
namespace {

// Of so many items one is a bulk request's even while interactive ones wait.
constexpr int64_t kBulkShare = 8;
// From this many items on a request that does not say is bulk.
constexpr int64_t kBulkFrom = 9;

}  // namespace

FieldList Fields(QueueOptions& options) {
  FieldList fields;
  fields
      .Add("priority", &options.priority, {"auto", "interactive", "bulk"},
           "interactive goes before bulk; auto: bulk from 9 sentences, prompts or texts on")
      .Add("deadline_ms", &options.deadline_ms, 0, 3600000,
           "milliseconds after which nobody needs the answer; 0: as the server says");
  return fields;
}

bool QueueOptions::IsBulk(int64_t items) const {
  return priority == Priority::kBulk || (priority == Priority::kAuto && items >= kBulkFrom);
}

bool RequestQueue::TryPut(const std::shared_ptr<Job>& job) {
  const std::vector<JobItem*> items = job->Items();
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || Waiting() + std::ssize(items) > capacity_) return false;
    job->left_ = items.size();
    for (JobItem* item : items) {
      item->job = job.get();
      (job->bulk ? bulk_ : interactive_).push_back(item);
    }
    jobs_.emplace(job.get(), job);
  }
  pool_->Wake();
  return true;
}

bool RequestQueue::HasRoom() const {
  const std::lock_guard lock(mutex_);
  return !closed_ && Waiting() < capacity_;
}

void RequestQueue::TakeBack(Job* job) {
  job->unwanted_ = true;
  const auto theirs = [job](const JobItem* item) { return item->job == job; };
  Leave(job, std::erase_if(job->bulk ? bulk_ : interactive_, theirs));
}

void RequestQueue::Cancel(const std::shared_ptr<Job>& job) {
  const std::lock_guard lock(mutex_);
  TakeBack(job.get());
}

void RequestQueue::Close() {
  std::unordered_map<Job*, std::shared_ptr<Job>> ended;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  ended = jobs_;
  for (const auto& [job, held] : ended) TakeBack(job);
}

int64_t RequestQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return Waiting();
}

int64_t RequestQueue::live() const {
  const std::lock_guard lock(mutex_);
  return live_;
}

int64_t RequestQueue::most_live() const {
  const int64_t by_tokens = std::max<int64_t>(1, room_.tokens / kLeastSourceTokens);
  return pool_->size() * std::min(room_.sentences, by_tokens);
}

// Each thread takes its share, so that none stands idle beside one with a long list.
JobItem* RequestQueue::Next(const SearchLoad& load) {
  const std::lock_guard lock(mutex_);
  const int64_t waiting = Waiting();
  const bool has_share = load.sentences * pool_->size() >= live_ + waiting;
  if (waiting == 0 || (load.sentences > 0 && has_share)) return nullptr;
  const bool from_bulk =
      interactive_.empty() || (!bulk_.empty() && taken_ % kBulkShare == kBulkShare - 1);
  std::deque<JobItem*>& line = from_bulk ? bulk_ : interactive_;
  JobItem* item = line.front();
  if (!room_.Takes(load, std::max(kLeastSourceTokens, item->room))) return nullptr;
  line.pop_front();
  ++taken_;
  ++live_;
  return item;
}

std::shared_ptr<Job> RequestQueue::Leave(Job* job, size_t items) {
  job->left_ -= items;
  if (job->left_ > 0) return nullptr;
  const auto node = jobs_.extract(job);
  return node.empty() ? nullptr : node.mapped();
}

// The item has left: whoever has no memory to hear of it must not have it fail once more.
void RequestQueue::End(const Job& job, const std::exception_ptr& error) {
  try {
    job.on_end(error);
  } catch (const std::bad_alloc&) {
  }
}

void RequestQueue::Done(const JobItem& item, const std::function<void()>& keep) {
  Job* job = item.job;
  {
    const std::lock_guard calling(job->calling_);
    if (!job->unwanted_) keep();
  }
  std::shared_ptr<Job> ended;
  {
    const std::lock_guard lock(mutex_);
    --live_;
    ended = Leave(job, 1);
  }
  if (ended != nullptr && !ended->unwanted_) End(*ended, nullptr);
}

void RequestQueue::Dropped(const JobItem& item) {
  std::shared_ptr<Job> ended;  // destroyed without the lock
  const std::lock_guard lock(mutex_);
  --live_;
  ended = Leave(item.job, 1);
}

void RequestQueue::Failed(const JobItem& item, const std::exception_ptr& error) {
  Job* job = item.job;
  std::shared_ptr<Job> held;
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    held = jobs_.at(job);
    first = !job->unwanted_;
    --live_;
    TakeBack(job);
    Leave(job, 1);
  }
  if (first) End(*held, error);
}

}  // namespace attend
