#include "base/team.h"

#include <thread>

namespace attend {
namespace {

constexpr int kSpins = 2000;  // some tens of microseconds

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

void Team::RunErased(int64_t parts, Call call, const void* context) {
  call_ = call;
  context_ = context;
  unfinished_.store(parts, std::memory_order_relaxed);
  untaken_.store(parts, std::memory_order_release);
  jobs_.fetch_add(1, std::memory_order_release);
  jobs_.notify_all();
  TakeParts();
  for (int spins = 0; unfinished_.load(std::memory_order_acquire) > 0; ++spins) {
    Pause();
    if (spins > kSpins) std::this_thread::yield();  // the thread we wait for may want this core
  }
}

void Team::TakeParts() {
  while (untaken_.load(std::memory_order_relaxed) > 0) {
    const int64_t left = untaken_.fetch_sub(1, std::memory_order_acquire);
    if (left <= 0) return;
    call_(context_, left - 1);
    unfinished_.fetch_sub(1, std::memory_order_release);
  }
}

void Team::Serve() {
  while (true) {
    const uint32_t seen = jobs_.load(std::memory_order_acquire);
    if (dismissed_.load(std::memory_order_acquire)) return;
    TakeParts();
    for (int spins = 0; spins < kSpins && jobs_.load(std::memory_order_relaxed) == seen; ++spins) {
      Pause();
    }
    jobs_.wait(seen, std::memory_order_acquire);
  }
}

void Team::Dismiss() {
  dismissed_.store(true, std::memory_order_release);
  jobs_.fetch_add(1, std::memory_order_release);
  jobs_.notify_all();
}

}  // namespace attend
