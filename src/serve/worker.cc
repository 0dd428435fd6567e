#include "serve/worker.h"

#include <utility>

namespace attend {

Worker::Worker(size_t capacity) : capacity_(capacity), thread_([this] { Run(); }) {}

Worker::~Worker() { Stop(); }

bool Worker::TryBegin(Task task) {
  const std::lock_guard lock(mutex_);
  if (stopping_ || new_.size() >= capacity_) return false;
  new_.push_back(std::move(task));
  wake_.notify_one();
  return true;
}

bool Worker::HasRoom() {
  const std::lock_guard lock(mutex_);
  return !stopping_ && new_.size() < capacity_;
}

void Worker::Continue(Task task) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  begun_.push_back(std::move(task));
  wake_.notify_one();
}

void Worker::Stop() {
  {
    std::deque<Task> dropped[2];  // destroyed without the lock
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    begun_.swap(dropped[0]);
    new_.swap(dropped[1]);
    wake_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void Worker::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !begun_.empty() || !new_.empty(); });
    if (stopping_) return;
    std::deque<Task>& line = begun_.empty() ? new_ : begun_;
    Task task = std::move(line.front());
    line.pop_front();
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
  }
}

}  // namespace attend
