#include "base/work_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "attend/error.h"

namespace attend {
namespace {

// The tasks of one ParallelFor; each is a step.
class Tasks : public PoolWork {
 public:
  using Body = std::function<void(int64_t task, int worker)>;
  Tasks(int64_t count, const Body& body) : body_(body), count_(count) {}

  bool Step(int worker) override {
    std::unique_lock lock(mutex_);
    if (next_ == count_) return false;
    const int64_t task = next_++;
    ++running_;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      body_(task, worker);
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    if (thrown) {
      if (!error_) error_ = thrown;
      next_ = count_;
    }
    if (--running_ == 0 && next_ == count_) done_.notify_all();
    return true;
  }

  void Wait() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return running_ == 0 && next_ == count_; });
  }
  void Rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  const Body& body_;
  const int64_t count_;
  std::mutex mutex_;
  std::condition_variable done_;
  int64_t next_ = 0, running_ = 0;
  std::exception_ptr error_;
};

}  // namespace

WorkPool::WorkPool(int threads) {
  try {
    for (int worker = 0; worker < threads; ++worker) {
      threads_.emplace_back([this, worker] { Run(worker); });
    }
  } catch (const std::exception& error) {
    Stop();
    throw Error(
        ErrorKind::kRuntime,
        fmt::format("only {} of {} threads could be started ({}); ask for fewer (--threads)",
                    threads_.size(), threads, error.what()));
  }
}

WorkPool::~WorkPool() { Stop(); }

void WorkPool::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkPool::Add(PoolWork* work) {
  {
    const std::lock_guard lock(mutex_);
    entries_.push_back(std::make_shared<Entry>(Entry{.work = work}));
  }
  Wake();
}

void WorkPool::Remove(PoolWork* work) {
  std::unique_lock lock(mutex_);
  const auto at = std::ranges::find(entries_, work, [](const auto& entry) { return entry->work; });
  if (at == entries_.end()) return;
  const std::shared_ptr<Entry> entry = std::move(*at);
  entries_.erase(at);
  entry->removed = true;
  work->Release();
  left_.wait(lock, [&] { return entry->inside == 0; });
}

void WorkPool::Wake() {
  const std::lock_guard lock(mutex_);
  for (const auto& entry : entries_) entry->work->Release();
  ++calls_;
  wake_.notify_all();
}

void WorkPool::CallForHelp() {
  const std::lock_guard lock(mutex_);
  ++calls_;
  wake_.notify_all();
}

void WorkPool::Run(int worker) {
  std::vector<std::shared_ptr<Entry>> order;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const uint64_t seen = calls_;
    order = entries_;
    std::ranges::sort(order, {}, [](const auto& entry) { return entry->used; });
    if (Step(worker, order, &lock) || calls_ != seen) continue;
    if (const std::shared_ptr<Team> team = TeamToServe()) {
      lock.unlock();
      team->Serve();
      lock.lock();
    } else {
      wake_.wait(lock, [&] { return stopping_ || calls_ != seen; });
    }
  }
}

std::shared_ptr<Team> WorkPool::TeamToServe() const {
  for (const auto& entry : entries_) {
    if (std::shared_ptr<Team> team = entry->work->TeamToServe()) return team;
  }
  return nullptr;
}

bool WorkPool::Step(int worker, std::span<const std::shared_ptr<Entry>> order,
                    std::unique_lock<std::mutex>* lock) {
  for (const auto& entry : order) {
    if (entry->removed) continue;
    ++entry->inside;
    lock->unlock();
    const Clock::time_point start = Clock::now();
    const bool did = entry->work->Step(worker);
    const Clock::duration taken = Clock::now() - start;
    lock->lock();
    if (--entry->inside == 0 && entry->removed) left_.notify_all();
    if (!did) continue;
    used_ = std::max(used_, entry->used);
    entry->used = used_ + taken;
    return true;
  }
  return false;
}

void WorkPool::ParallelFor(int64_t tasks, const std::function<void(int64_t, int)>& body) {
  Tasks work(tasks, body);
  Add(&work);
  work.Wait();
  Remove(&work);
  work.Rethrow();
}

}  // namespace attend
