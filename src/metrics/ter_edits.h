// The edits of TER: insertions, deletions, substitutions and shifts of word groups that turn a
// hypothesis into a reference, found greedily as Tercom does, with sacreBLEU 2.6.0's limits.
#ifndef ATTEND_METRICS_TER_EDITS_H_
#define ATTEND_METRICS_TER_EDITS_H_

#include <cstdint>

#include "metrics/ngrams.h"

namespace attend {

// Cost: at most 1,000 shifts tried, each len(hypothesis) * the beam's 50 words.
int64_t TerEdits(const Symbols& hypothesis, const Symbols& reference);

}  // namespace attend

#endif  // ATTEND_METRICS_TER_EDITS_H_
