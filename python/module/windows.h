// Long work in windows, so that Ctrl-C is heard and streams stay small: few texts at first, then as
// many as take about a second.
#ifndef ATTEND_PYTHON_MODULE_WINDOWS_H_
#define ATTEND_PYTHON_MODULE_WINDOWS_H_

#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <span>
#include <vector>

#include "python/module/interpreter.h"

namespace attend {

class Windows {
 public:
  // Texts of the next window.
  size_t size() const { return size_; }

  // Runs the next window on a thread of its own, without the GIL. Throws what `work` throws, and
  // KeyboardInterrupt, or what another signal's handler raises; `work` should end soon once `stop`
  // is true.
  using Work = std::function<void(const std::atomic<bool>* stop)>;
  void Run(const Work& work) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    std::atomic<bool> stop = false;
    std::future<void> done = std::async(std::launch::async, work, &stop);
    const auto wait = [&] {
      const WithoutGil released;
      return done.wait_for(kLook);
    };
    while (wait() != std::future_status::ready) {
      if (!stop) stop = PyErr_CheckSignals() != 0;
    }
    if (stop) throw nanobind::python_error();
    done.get();
    const Clock::duration taken = Clock::now() - start;
    if (taken < kShort) size_ = std::min(size_ * 2, kMost);
    if (taken > kLong) size_ = std::max(size_ / 2, kLeast);
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
  }

 private:
  static constexpr size_t kLeast = 16, kMost = 4096;
  static constexpr std::chrono::milliseconds kLook{50}, kShort{500}, kLong{2000};
  size_t size_ = kLeast;
};

// Calls run(window, windows) with one window of the texts after another.
template <class Text, class Run>
void InWindows(const std::vector<Text>& texts, const Run& run) {
  Windows windows;
  for (size_t begin = 0; begin < texts.size();) {
    const size_t count = std::min(windows.size(), texts.size() - begin);
    run(std::span<const Text>(texts).subspan(begin, count), &windows);
    begin += count;
  }
}

}  // namespace attend

#endif  // ATTEND_PYTHON_MODULE_WINDOWS_H_
