#include "data/batch_stream.h"

#include <fmt/format.h>

#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "attend/error.h"
#include "data/batch_plan.h"

namespace attend {
namespace {

using Plan = std::vector<std::vector<int64_t>>;

struct Made {
  Batch batch;
  std::exception_ptr error;
};

}  // namespace

// One cursor gives out work, another hands out results; `made_` holds what lies between them. All
// members but the constant ones are guarded by mutex_.
struct BatchStream::Impl {
  Impl(const ExampleSource* source, const BatchOptions& options, const DataPosition& position);
  ~Impl();

  void Work();
  bool TakeWork(std::unique_lock<std::mutex>* lock, DataPosition* work,
                std::vector<int64_t>* examples);
  void MakePlan(std::unique_lock<std::mutex>* lock);
  Batch Make(const DataPosition& work, const std::vector<int64_t>& examples) const;
  void Stop();

  const ExampleSource* const source_;
  const BatchOptions options_;
  const BatchPlanner planner_;

  std::mutex mutex_;
  std::condition_variable work_wake_;
  std::condition_variable made_wake_;
  std::map<int64_t, Plan> plans_;  // by epoch; those between the two cursors
  DataPosition next_work_;
  DataPosition next_out_;
  std::map<int64_t, Made> made_;  // by sequence number
  bool planning_ = false;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

BatchStream::Impl::Impl(const ExampleSource* source, const BatchOptions& options,
                        const DataPosition& position)
    : source_(source), options_(options), planner_(*source, options), next_out_(position) {
  if (source->size() == 0) {
    throw Error(ErrorKind::kInput, "the training data holds no example; expected at least one");
  }
  if (options.batch_tokens < 1 || options.worker_threads < 1 || options.prefetch < 1) {
    throw Error(ErrorKind::kConfiguration,
                "batch_tokens, worker_threads and prefetch must be at least 1");
  }
  const Plan& plan = plans_[position.epoch] = planner_.Epoch(position.epoch);
  if (position.batch_in_epoch < 0 || position.batch_in_epoch > std::ssize(plan)) {
    throw Error(
        ErrorKind::kInput,
        fmt::format("the data position is at batch {} of epoch {}, which has {}; the data or "
                    "the batching changed",
                    position.batch_in_epoch, position.epoch, plan.size()));
  }
  if (position.batch_in_epoch == std::ssize(plan)) {
    next_out_.batch_in_epoch = 0;
    ++next_out_.epoch;
    plans_.clear();
    plans_[next_out_.epoch] = planner_.Epoch(next_out_.epoch);
  }
  next_work_ = next_out_;
  try {
    for (int64_t i = 0; i < options.worker_threads; ++i) threads_.emplace_back([this] { Work(); });
  } catch (...) {
    Stop();
    throw;
  }
}

BatchStream::Impl::~Impl() { Stop(); }

void BatchStream::Impl::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void BatchStream::Impl::Work() {
  std::unique_lock lock(mutex_);
  DataPosition work;
  std::vector<int64_t> examples;
  while (TakeWork(&lock, &work, &examples)) {
    lock.unlock();
    Made made;
    try {
      made.batch = Make(work, examples);
    } catch (...) {
      made.error = std::current_exception();
    }
    lock.lock();
    made_[work.sequence] = std::move(made);
    made_wake_.notify_all();
  }
}

// Waits until there is a batch to make; false when the stream ends.
bool BatchStream::Impl::TakeWork(std::unique_lock<std::mutex>* lock, DataPosition* work,
                                 std::vector<int64_t>* examples) {
  while (true) {
    work_wake_.wait(*lock, [this] {
      return stopping_ ||
             (!planning_ && next_work_.sequence < next_out_.sequence + options_.prefetch);
    });
    if (stopping_) return false;
    const auto plan = plans_.find(next_work_.epoch);
    if (plan == plans_.end()) {
      MakePlan(lock);
      continue;
    }
    *work = next_work_;
    *examples = plan->second[next_work_.batch_in_epoch];
    ++next_work_.sequence;
    if (++next_work_.batch_in_epoch == std::ssize(plan->second)) {
      next_work_.batch_in_epoch = 0;
      ++next_work_.epoch;
    }
    return true;
  }
}

// Plans the epoch of next_work_ while the others may hand out and make what is planned already.
void BatchStream::Impl::MakePlan(std::unique_lock<std::mutex>* lock) {
  planning_ = true;
  const int64_t epoch = next_work_.epoch;
  lock->unlock();
  Plan plan;
  std::exception_ptr error;
  try {
    plan = planner_.Epoch(epoch);
  } catch (...) {
    error = std::current_exception();
  }
  lock->lock();
  planning_ = false;
  if (error) {
    made_[next_work_.sequence].error = error;
    stopping_ = true;
  } else {
    plans_[epoch] = std::move(plan);
  }
  work_wake_.notify_all();
  made_wake_.notify_all();
}

Batch BatchStream::Impl::Make(const DataPosition& work,
                              const std::vector<int64_t>& examples) const {
  Batch batch{work.epoch, work.sequence, {}};
  batch.examples.reserve(examples.size());
  for (const int64_t index : examples) batch.examples.push_back(source_->Get(index, work.epoch));
  return batch;
}

BatchStream::BatchStream(const ExampleSource* source, const BatchOptions& options,
                         const DataPosition& position)
    : impl_(std::make_unique<Impl>(source, options, position)) {}

BatchStream::~BatchStream() = default;

Batch BatchStream::Next() {
  Impl& impl = *impl_;
  std::unique_lock lock(impl.mutex_);
  const int64_t sequence = impl.next_out_.sequence;
  impl.made_wake_.wait(lock, [&] { return impl.made_.contains(sequence); });
  const auto made = impl.made_.find(sequence);
  if (made->second.error) std::rethrow_exception(made->second.error);
  Batch batch = std::move(made->second.batch);
  impl.made_.erase(made);
  DataPosition& position = impl.next_out_;
  ++position.sequence;
  if (++position.batch_in_epoch == std::ssize(impl.plans_.at(position.epoch))) {
    impl.plans_.erase(position.epoch);
    position.batch_in_epoch = 0;
    ++position.epoch;
  }
  impl.work_wake_.notify_all();
  return batch;
}

DataPosition BatchStream::position() const {
  const std::lock_guard lock(impl_->mutex_);
  return impl_->next_out_;
}

int64_t BatchStream::batches_in_epoch() const {
  Impl& impl = *impl_;
  std::unique_lock lock(impl.mutex_);
  const int64_t epoch = impl.next_out_.epoch;
  impl.made_wake_.wait(lock, [&] { return impl.stopping_ || impl.plans_.contains(epoch); });
  return impl.plans_.contains(epoch) ? std::ssize(impl.plans_.at(epoch)) : 0;
}

}  // namespace attend
