// What became of a corpus' lines.
#ifndef ATTEND_DATA_CORPUS_REPORT_H_
#define ATTEND_DATA_CORPUS_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace attend {

// Lines that have something in common.
struct NamedLines {
  static constexpr size_t kNamed = 5;
  int64_t count = 0;
  std::vector<std::string> first;  // where the first kNamed read of them stand: "train.en:17"

  // Adds what follows.
  void Add(const NamedLines& next);
  // "train.en:3, 17 and 5 more"; empty where there are none.
  std::string Text() const;
  bool operator==(const NamedLines&) const = default;
};

// An example is counted under the first reason that drops it, in this order.
struct CorpusReport {
  int64_t lines = 0;
  int64_t kept = 0;
  NamedLines empty, too_short, too_long, ratio;
  int64_t dividing = 0;         // blank lines between documents, which are none of those kept
  NamedLines malformed;         // lines of any column with malformed UTF-8, read as U+FFFD
  int64_t protected_spans = 0;  // that became placeholders on both sides
  int64_t unequal_spans = 0;    // of the source, that stay text: the target has others
  std::vector<int64_t> tokens;  // by column: ids kept, bos and eos included

  // Adds the counts of what follows.
  void Add(const CorpusReport& next);
  // "29000 lines, 28998 kept; dropped: 0 empty, 0 too short, 2 too long (train.en:3, 17), ..."
  std::string Text() const;
  bool operator==(const CorpusReport&) const = default;
};

Json ToJson(const CorpusReport& report);
// Throws Error(kInput) opening with `where` for a member that is missing or of another type.
CorpusReport CorpusReportFromJson(const Json& json, const std::string& where);

}  // namespace attend

#endif  // ATTEND_DATA_CORPUS_REPORT_H_
