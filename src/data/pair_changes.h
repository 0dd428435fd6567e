// What training does to both texts of a pair before they are encoded: placeholders for what both
// have in common, other case.
#ifndef ATTEND_DATA_PAIR_CHANGES_H_
#define ATTEND_DATA_PAIR_CHANGES_H_

#include <cstdint>
#include <memory>

#include "data/case_noise.h"
#include "data/line_corpus.h"
#include "text/span_masker.h"

namespace attend {

// What both texts have in common becomes placeholders; null: nothing does.
struct PairProtection {
  std::shared_ptr<const SpanMasker> masker;
  uint64_t seed = 1;
  bool training = true;  // numbers are drawn, and some pairs get placeholders to learn copying from
  double examples = 0;   // the share of those
};

// Of a corpus of two columns.
TextChanges PairChanges(const PairProtection& protection, const CaseNoise& noise = {});

}  // namespace attend

#endif  // ATTEND_DATA_PAIR_CHANGES_H_
