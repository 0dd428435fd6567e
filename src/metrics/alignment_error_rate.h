// The error rate of word alignments (Och and Ney 2003).
#ifndef ATTEND_METRICS_ALIGNMENT_ERROR_RATE_H_
#define ATTEND_METRICS_ALIGNMENT_ERROR_RATE_H_

#include <string>
#include <string_view>
#include <vector>

#include "attend/metrics.h"
#include "text/alignment_links.h"

namespace attend {

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
