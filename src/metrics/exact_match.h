// The share of texts that are exactly right.
#ifndef ATTEND_METRICS_EXACT_MATCH_H_
#define ATTEND_METRICS_EXACT_MATCH_H_

#include <string>
#include <string_view>
#include <vector>

#include "attend/metrics.h"

namespace attend {

// 100 times the share of texts that equal one of their references, white space at both ends aside.
class ExactMatch : public Metric {
 public:
  explicit ExactMatch(bool lowercase = false) : lowercase_(lowercase) {}
  std::string Name() const override { return "exact match"; }
  // Right texts, texts.
  MetricStatistics Statistics(std::string_view hypothesis,
                              const std::vector<std::string_view>& references) const override;
  double Score(const MetricStatistics& sums) const override;
  std::string Details(const MetricStatistics& sums) const override;
  std::string Settings() const override;
  // sacreBLEU has no such metric, so its version is not named.
  std::string Signature(size_t references) const override;

 private:
  bool lowercase_;
};

}  // namespace attend

#endif  // ATTEND_METRICS_EXACT_MATCH_H_
