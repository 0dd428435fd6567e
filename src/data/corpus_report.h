// What became of a corpus' lines.
#ifndef ATTEND_DATA_CORPUS_REPORT_H_
#define ATTEND_DATA_CORPUS_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace attend {

// An example is counted under the first reason that drops it, in this order.
struct CorpusReport {
  int64_t lines = 0;
  int64_t kept = 0;
  int64_t empty = 0;
  int64_t too_short = 0;
  int64_t too_long = 0;
  int64_t ratio = 0;
  int64_t malformed = 0;        // malformed UTF-8 sequences read as U+FFFD
  std::string first_malformed;  // where the first of them stands: "train.en:17"
  std::vector<int64_t> tokens;  // by column: ids kept, bos and eos included

  // Adds the counts of what follows.
  void Add(const CorpusReport& next);
  // "29000 lines, 28990 kept; dropped: 0 empty, 0 too short, 10 too long, 0 by length ratio; ..."
  std::string Text() const;
  bool operator==(const CorpusReport&) const = default;
};

Json ToJson(const CorpusReport& report);
// Throws Error(kInput) opening with `where` for a member that is missing or of another type.
CorpusReport CorpusReportFromJson(const Json& json, const std::string& where);

}  // namespace attend

#endif  // ATTEND_DATA_CORPUS_REPORT_H_
