// How far a long job has come, on standard error: a line that changes on a terminal, else one every
// so often.
#ifndef ATTEND_CLI_TRANSLATE_PROGRESS_H_
#define ATTEND_CLI_TRANSLATE_PROGRESS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/log.h"

namespace attend {

// What one call has done after `seconds`.
struct WorkDone {
  int64_t line = 0;               // the last one's number
  int64_t lines = 0, tokens = 0;  // by this call; tokens of output
  double seconds = 0;
  std::optional<double> fraction;  // of the whole job, where that is known
  double begun_at = 0;             // the fraction that was done before this call
};

// "line 512 (51 %), 204.8 lines/s, 3051 tokens/s, 2 min 5 s left".
std::string ProgressText(const WorkDone& done);
// The two largest of days, hours, minutes and seconds: "2 h 5 min".
std::string DurationText(double seconds);

// One owner; not thread-safe.
class Progress {
 public:
  // `every`: seconds between two lines; 0: says nothing.
  Progress(double every, bool terminal, Log log);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Says what another part may have to say, on a line of its own.
  void Say(LogLevel level, std::string_view message);
  // Work begins.
  void Start(std::optional<double> fraction);
  // Adds a window's work and tells of it where it is time.
  void Add(int64_t line, int64_t lines, int64_t tokens, std::optional<double> fraction);
  // Work ends; one that was long is told of.
  void End();

 private:
  double Seconds() const;
  void Clear();

  const double every_;
  const bool terminal_;
  const Log log_;
  WorkDone done_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  double told_ = 0;     // when, in seconds since the start
  bool shown_ = false;  // the terminal's line is there
};

}  // namespace attend

#endif  // ATTEND_CLI_TRANSLATE_PROGRESS_H_
