// What cleaning kept and dropped, for people and for programs.
#ifndef ATTEND_DATA_CLEANING_CLEANING_REPORT_H_
#define ATTEND_DATA_CLEANING_CLEANING_REPORT_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "data/cleaning/cleaning_rules.h"

namespace attend {

class CleaningReport {
 public:
  // How many lines of each fault are shown.
  static constexpr size_t kShown = 3;

  // Counts a line; `number` is its own, from 1.
  void Add(Fault fault, int64_t number, std::span<const std::string_view> sides);

  int64_t lines() const { return lines_; }
  int64_t kept() const { return Count(Fault::kNone); }
  int64_t Count(Fault fault) const { return faults_[static_cast<size_t>(fault)].count; }

  // "1000 lines, 900 kept (90.0 %); dropped: 60 duplicate, 40 too long"
  std::string Text() const;
  // {"lines", "kept", "dropped": {"too_long": {"count", "examples": [{"line", "text": [...]}]}}},
  // faults that were found alone.
  Json ToJson() const;
  // A page: a table of the faults, then examples.
  std::string Markdown() const;

 private:
  struct Example {
    int64_t number = 0;
    std::vector<std::string> sides;  // excerpts
  };
  struct Dropped {
    int64_t count = 0;
    std::vector<Example> examples;
  };
  int64_t lines_ = 0;
  std::array<Dropped, kFaults> faults_;  // kNone's: what was kept
};

}  // namespace attend

#endif  // ATTEND_DATA_CLEANING_CLEANING_REPORT_H_
