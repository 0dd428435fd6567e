// Says where the time of a translation goes: each stretch of work, when it ends, is booked on a
// part.
#ifndef ATTEND_ENGINE_BLOCKS_WORK_TIMER_H_
#define ATTEND_ENGINE_BLOCKS_WORK_TIMER_H_

#include <chrono>

#include "attend/running.h"

namespace attend {

inline WorkSeconds& operator+=(WorkSeconds& sum, const WorkSeconds& more) {
  for (double WorkSeconds::* part :
       {&WorkSeconds::encoder, &WorkSeconds::self_attention, &WorkSeconds::cross_attention,
        &WorkSeconds::feed_forward, &WorkSeconds::output, &WorkSeconds::search,
        &WorkSeconds::rest}) {
    sum.*part += more.*part;
  }
  return sum;
}

// One thread's clock; stopped, it costs nothing.
class WorkTimer {
 public:
  // Forgets what was booked, and measures from here or not at all.
  void Start(bool running) {
    running_ = running;
    seconds_ = {};
    if (running_) last_ = std::chrono::steady_clock::now();
  }
  // Books the time since the last call.
  void Book(double WorkSeconds::* part) {
    if (!running_) return;
    const auto now = std::chrono::steady_clock::now();
    seconds_.*part += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }
  // Adds what was booked and stops.
  void AddTo(WorkSeconds* sum) {
    *sum += seconds_;
    running_ = false;
  }

 private:
  bool running_ = false;
  WorkSeconds seconds_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_BLOCKS_WORK_TIMER_H_
