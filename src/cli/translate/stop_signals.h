// SIGINT, SIGTERM and SIGHUP end the program between two pieces of work, never within one.
#ifndef ATTEND_CLI_TRANSLATE_STOP_SIGNALS_H_
#define ATTEND_CLI_TRANSLATE_STOP_SIGNALS_H_

#include <atomic>
#include <csignal>
#include <functional>
#include <mutex>
#include <thread>

namespace attend {

// While it lives, this thread and those that it starts, for as long as they live, don't take these
// signals. One that the program was started to ignore stays ignored.
class BlockedSignals {
 public:
  BlockedSignals();
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  const sigset_t& set() const { return set_; }

 private:
  sigset_t set_, before_;
};

// All other threads must have started under BlockedSignals.
class StopSignals {
 public:
  // A signal waits for the end of the work in hand, calls `stop` and ends the program with 128 +
  // its number, though the main thread may be waiting for input. A second one waits for nothing and
  // calls nothing.
  explicit StopSignals(std::function<void()> stop);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Held while something is in hand.
  std::unique_lock<std::timed_mutex> Work() { return std::unique_lock(work_); }

 private:
  void Wait();
  [[noreturn]] void Stop(int signal);

  const BlockedSignals blocked_;
  const std::function<void()> stop_;
  std::timed_mutex work_;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

}  // namespace attend

#endif  // ATTEND_CLI_TRANSLATE_STOP_SIGNALS_H_
