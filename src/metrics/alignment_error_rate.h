// Word alignments in Pharaoh's form and their error rate (Och and Ney 2003).
#ifndef ATTEND_METRICS_ALIGNMENT_ERROR_RATE_H_
#define ATTEND_METRICS_ALIGNMENT_ERROR_RATE_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace attend {

// Pairs of source and target word, each counted from 0.
using AlignmentLinks = std::set<std::pair<int64_t, int64_t>>;

// Reads "0-0 1-2": links divided by white space; an empty line has none. Throws Error(kInput) that
// opens with `where` (file and line) for anything else.
AlignmentLinks ParseAlignment(std::string_view line, const std::string& where);

// Source and target exchanged.
AlignmentLinks Swapped(const AlignmentLinks& links);

// Adds up over sentences. Every gold link counts as sure.
class AlignmentErrorRate {
 public:
  void Add(const AlignmentLinks& predicted, const AlignmentLinks& gold);
  // 1 - 2 |both| / (|predicted| + |gold|); 0 where there is no link at all.
  double Value() const;
  double Precision() const;  // 1 where nothing was predicted
  double Recall() const;     // 1 where there is no gold link

 private:
  int64_t predicted_ = 0, gold_ = 0, both_ = 0;
};

}  // namespace attend

#endif  // ATTEND_METRICS_ALIGNMENT_ERROR_RATE_H_
