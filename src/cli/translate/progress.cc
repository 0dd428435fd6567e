#include "cli/translate/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <utility>

namespace attend {
namespace {

// "204.8 lines/s, 3051 tokens/s"; no tokens where the work has none.
std::string SpeedText(const WorkDone& done) {
  const std::string lines =
      fmt::format("{:.1f} lines/s", static_cast<double>(done.lines) / done.seconds);
  if (done.tokens == 0) return lines;
  return fmt::format("{}, {:.0f} tokens/s", lines, static_cast<double>(done.tokens) / done.seconds);
}

constexpr double kOnTerminal = 1;  // seconds between two changes of its line

}  // namespace

std::string DurationText(double seconds) {
  struct Unit {
    int64_t seconds;
    std::string_view name;
  };
  constexpr std::array<Unit, 4> kUnits = {{{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}}};
  auto rest = static_cast<int64_t>(std::ceil(std::min(seconds, 1e12)));
  for (size_t i = 0; i + 1 < kUnits.size(); ++i) {
    if (rest < kUnits[i].seconds) continue;
    const int64_t whole = rest / kUnits[i].seconds;
    rest = rest % kUnits[i].seconds / kUnits[i + 1].seconds;
    const std::string text = fmt::format("{} {}", whole, kUnits[i].name);
    return rest == 0 ? text : fmt::format("{} {} {}", text, rest, kUnits[i + 1].name);
  }
  return fmt::format("{} s", rest);
}

std::string ProgressText(const WorkDone& done) {
  std::string text = fmt::format("line {}", done.line);
  if (done.fraction) text += fmt::format(" ({:.0f} %)", std::floor(100 * *done.fraction));
  if (done.seconds > 0) text += ", " + SpeedText(done);
  const double gained = done.fraction.value_or(0) - done.begun_at;
  if (gained > 0) {
    text += fmt::format(", {} left", DurationText(done.seconds * (1 - *done.fraction) / gained));
  }
  return text;
}

Progress::Progress(double every, bool terminal, Log log)
    : every_(every), terminal_(terminal), log_(std::move(log)) {}

Progress::~Progress() { Clear(); }

double Progress::Seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
}

void Progress::Clear() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
  shown_ = false;
}

void Progress::Say(LogLevel level, std::string_view message) {
  Clear();
  log_(level, message);
}

void Progress::Start(std::optional<double> fraction) {
  started_ = std::chrono::steady_clock::now();
  done_.begun_at = fraction.value_or(0);
}

void Progress::Add(int64_t line, int64_t lines, int64_t tokens, std::optional<double> fraction) {
  done_.line = line;
  done_.lines += lines;
  done_.tokens += tokens;
  done_.fraction = fraction;
  done_.seconds = Seconds();
  if (every_ == 0 || done_.seconds - told_ < (terminal_ ? std::min(every_, kOnTerminal) : every_))
    return;
  told_ = done_.seconds;
  if (!terminal_) return log_(LogLevel::kInfo, ProgressText(done_));
  std::fputs(fmt::format("\r{}\x1b[K", ProgressText(done_)).c_str(), stderr);
  shown_ = true;
}

void Progress::End() {
  Clear();
  done_.seconds = Seconds();
  if (every_ == 0 || done_.lines == 0 || done_.seconds < every_) return;
  log_(LogLevel::kInfo,
       fmt::format("{} line{} in {} ({})", done_.lines, done_.lines == 1 ? "" : "s",
                   DurationText(done_.seconds), SpeedText(done_)));
}

}  // namespace attend
