#include "base/thread_pool.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "attend/error.h"
#include "base/control_groups.h"

namespace attend {

std::vector<int> AvailableProcessors() {
  const int most = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  std::vector<int> numbers;
  cpu_set_t allowed;
  const bool told = sched_getaffinity(getpid(), sizeof allowed, &allowed) == 0;
  for (int number = 0; number < (told ? CPU_SETSIZE : most); ++number) {
    if (!told || CPU_ISSET(number, &allowed)) numbers.push_back(number);
  }
  return numbers;
}

int DefaultThreads(const std::filesystem::path& root) {
  const auto processors = static_cast<double>(AvailableProcessors().size());
  return static_cast<int>(std::min(processors, std::ceil(ProcessorQuota(root))));
}

ThreadPool::ThreadPool(int threads) {
  try {
    for (int worker = 1; worker < threads; ++worker) {
      workers_.emplace_back([this, worker] { WorkerLoop(worker); });
    }
  } catch (const std::exception& error) {
    Stop();
    throw Error(
        ErrorKind::kRuntime,
        fmt::format("only {} of {} threads could be started ({}); ask for fewer (--threads)",
                    size(), threads, error.what()));
  }
}

ThreadPool::~ThreadPool() { Stop(); }

void ThreadPool::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::ParallelFor(int64_t tasks, const std::function<void(int64_t, int)>& body) {
  if (workers_.empty() || tasks <= 1) {  // not worth waking anybody
    for (int64_t task = 0; task < tasks; ++task) body(task, 0);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    body_ = &body;
    next_task_ = 0;
    task_count_ = tasks;
    running_ = size();
    ++generation_;
  }
  wake_.notify_all();
  RunTasks(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return running_ == 0; });
  body_ = nullptr;
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void ThreadPool::RunTasks(int worker) {
  std::unique_lock lock(mutex_);
  while (next_task_ < task_count_) {
    const int64_t task = next_task_++;
    const auto* body = body_;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      (*body)(task, worker);
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    if (thrown) {
      if (!error_) error_ = thrown;
      next_task_ = task_count_;
    }
  }
  if (--running_ == 0) done_.notify_all();
}

void ThreadPool::WorkerLoop(int worker) {
  uint64_t seen = 0;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || generation_ != seen; });
      if (stopping_) return;
      seen = generation_;
    }
    RunTasks(worker);
  }
}

}  // namespace attend
