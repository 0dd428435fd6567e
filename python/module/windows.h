// Long work in windows, so that Ctrl-C is heard and streams stay small: few texts at first, then as
// many as take about a second.
#ifndef ATTEND_PYTHON_MODULE_WINDOWS_H_
#define ATTEND_PYTHON_MODULE_WINDOWS_H_

#include <nanobind/nanobind.h>

#include <algorithm>
#include <chrono>
#include <functional>

namespace attend {

class Windows {
 public:
  // Texts of the next window.
  size_t size() const { return size_; }

  // Runs the next window without the GIL. Throws what `work` throws, and KeyboardInterrupt, or what
  // another signal's handler raises, after it.
  void Run(const std::function<void()>& work) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    {
      const nanobind::gil_scoped_release released;
      work();
    }
    const Clock::duration taken = Clock::now() - start;
    if (taken < kShort) size_ = std::min(size_ * 2, kMost);
    if (taken > kLong) size_ = std::max(size_ / 2, kLeast);
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
  }

 private:
  static constexpr size_t kLeast = 16, kMost = 4096;
  static constexpr std::chrono::milliseconds kShort{500}, kLong{2000};
  size_t size_ = kLeast;
};

}  // namespace attend

#endif  // ATTEND_PYTHON_MODULE_WINDOWS_H_
