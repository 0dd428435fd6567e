// A fixed set of threads that share loops. Threads sleep while there is nothing to do; they never
// spin.
#ifndef ATTEND_BASE_THREAD_POOL_H_
#define ATTEND_BASE_THREAD_POOL_H_

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace attend {

// Numbers of the processors that the process's first thread may run on, at least one, ascending:
// all of the machine's unless taskset, numactl or a batch system left it fewer.
std::vector<int> AvailableProcessors();

// As many threads as that, wherever no number is given, or as a container's quota of processor time
// keeps at work, a part of one counted as a whole. `root` is where /proc and /sys stand.
int DefaultThreads(const std::filesystem::path& root = "/");

class ThreadPool {
 public:
  // `threads` counts the caller too: 1 starts none. Throws Error(kRuntime) where the system has no
  // room for so many; none is left running then.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls body(task, worker) once for each task in [0, tasks), worker in [0, size()), and returns
  // when all are done. Tasks are handed out in order, to whichever thread is free. The first
  // exception thrown by a body is thrown here, after all running ones ended. One caller at a time;
  // not from inside a body.
  void ParallelFor(int64_t tasks, const std::function<void(int64_t task, int worker)>& body);

 private:
  void Stop();
  void RunTasks(int worker);
  void WorkerLoop(int worker);

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  const std::function<void(int64_t, int)>* body_ = nullptr;
  int64_t next_task_ = 0;
  int64_t task_count_ = 0;
  int running_ = 0;
  uint64_t generation_ = 0;
  bool stopping_ = false;
  std::exception_ptr error_;
};

}  // namespace attend

#endif  // ATTEND_BASE_THREAD_POOL_H_
