// What can't go through a fork, such as threads and locks that they hold: each process has its own.
#ifndef ATTEND_BASE_PER_PROCESS_H_
#define ATTEND_BASE_PER_PROCESS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace attend {

// Forks that lie between the program's first process and this one.
int64_t ForksSoFar();

// A T that is made at once and, in a child of this process, again at the first use there. The
// parent's stays in the child's memory as it was at the fork: nobody uses or destroys it. Safe to
// use from many threads.
template <class T>
class PerProcess {
 public:
  using Make = std::function<std::unique_ptr<T>()>;
  explicit PerProcess(Make make) : make_(std::move(make)), own_(New().release()) {}
  ~PerProcess() {
    const Own* own = own_;
    if (own->forks == ForksSoFar()) delete own;
  }
  PerProcess(const PerProcess&) = delete;
  PerProcess& operator=(const PerProcess&) = delete;

  T& Get() const {
    Own* own = own_;
    if (own->forks != ForksSoFar()) {
      std::unique_ptr<Own> renewed =
          New();  // without a lock, which a thread of the parent may hold
      if (own_.compare_exchange_strong(own, renewed.get())) own = renewed.release();
    }
    return *own->value;
  }

 private:
  struct Own {
    int64_t forks;
    std::unique_ptr<T> value;
  };
  std::unique_ptr<Own> New() const { return std::make_unique<Own>(ForksSoFar(), make_()); }

  const Make make_;
  mutable std::atomic<Own*> own_;
};

}  // namespace attend

#endif  // ATTEND_BASE_PER_PROCESS_H_
