#include "cli/translate/stop_signals.h"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <utility>

namespace attend {
namespace {

// Wakes our own thread; nobody else sends it.
constexpr int kWake = SIGURG;

}  // namespace

BlockedSignals::BlockedSignals() {
  sigemptyset(&set_);
  sigaddset(&set_, kWake);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
      sigaddset(&set_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &set_, &before_);
}

BlockedSignals::~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

StopSignals::StopSignals(std::function<void()> stop)
    : stop_(std::move(stop)), thread_([this] { Wait(); }) {}

StopSignals::~StopSignals() {
  done_ = true;
  pthread_kill(thread_.native_handle(), kWake);
  thread_.join();
}

void StopSignals::Wait() {
  int signal = kWake;
  while (signal == kWake && !done_) sigwait(&blocked_.set(), &signal);
  if (signal != kWake) Stop(signal);
}

void StopSignals::Stop(int signal) {
  constexpr timespec kAtOnce = {};
  while (!work_.try_lock_for(std::chrono::milliseconds(50))) {
    const int second = sigtimedwait(&blocked_.set(), nullptr, &kAtOnce);
    if (second > 0 && second != kWake) _exit(128 + second);
  }
  stop_();
  _exit(128 + signal);
}

}  // namespace attend
