// The thread for all that a request needs beside the journey of its bytes and its translation: its
// body read, its texts divided and encoded, its answer written.
#ifndef ATTEND_SERVE_WORKER_H_
#define ATTEND_SERVE_WORKER_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace attend {

// Safe to use from many threads. Tasks run one at a time, and must not throw.
class Worker {
 public:
  using Task = std::function<void()>;

  // So many requests may wait for their beginning.
  explicit Worker(size_t capacity);
  ~Worker();

  // The first task of a request. False: there is no room, and it is not taken.
  bool TryBegin(Task task);
  // By the time of TryBegin it may be gone.
  bool HasRoom();
  // A later one, which goes before what has not begun, in the order of these calls.
  void Continue(Task task);
  // Waits for the task that runs; what waits is dropped, and so is what comes from now on. Not to
  // be called from a task.
  void Stop();

 private:
  void Run();

  const size_t capacity_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> begun_, new_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_WORKER_H_
