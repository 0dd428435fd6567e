// Word alignments in Pharaoh's form and their error rate (Och and Ney 2003).
#ifndef ATTEND_METRICS_ALIGNMENT_ERROR_RATE_H_
#define ATTEND_METRICS_ALIGNMENT_ERROR_RATE_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attend/metrics.h"

namespace attend {

// Pairs of source and target word, each counted from 0.
using AlignmentLinks = std::set<std::pair<int64_t, int64_t>>;

struct Alignment {
  AlignmentLinks sure;
  AlignmentLinks possible;  // and not sure
};

// Reads "0-0 1-2 2?3 2p4": links divided by white space, of which those with ? or p are possible.
// An empty line has none; what stands before the last "|||", as `attend score` and
// `attend translate` write it, is left out. Throws Error(kInput) that opens with `where` (file and
// line) for anything else.
Alignment ParseAlignment(std::string_view line, const std::string& where);

// The same for a prediction, where a possible link is an error.
Alignment ParsePrediction(std::string_view line, const std::string& where);

struct AerOptions {
  bool swap_reference = false;  // the reference's links are target-source
};

// 100 (1 - (|A in S| + |A in P|) / (|A| + |S|)) of predicted links A, sure links S and possible
// links P, which hold S; 0 where there is no link at all. Lower is better. Lines are alignments,
// and each has one reference.
class Aer : public Metric {
 public:
  explicit Aer(const AerOptions& options = {}) : options_(options) {}
  std::string Name() const override { return "AER"; }
  // Links: predicted, sure, predicted and sure, predicted and sure or possible.
  MetricStatistics Statistics(std::string_view hypothesis,
                              const std::vector<std::string_view>& references) const override;
  double Score(const MetricStatistics& sums) const override;
  // Precision is 100 where nothing was predicted, recall where no link is sure.
  std::string Details(const MetricStatistics& sums) const override;
  std::string Settings() const override;
  // sacreBLEU has no such metric, so its version is not named.
  std::string Signature(size_t references) const override;

 private:
  AerOptions options_;
};

}  // namespace attend

#endif  // ATTEND_METRICS_ALIGNMENT_ERROR_RATE_H_
