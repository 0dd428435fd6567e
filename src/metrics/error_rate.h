// What a text lacks of being a reference: word and character error rate.
#ifndef ATTEND_METRICS_ERROR_RATE_H_
#define ATTEND_METRICS_ERROR_RATE_H_

#include <string>
#include <string_view>
#include <vector>

#include "attend/metrics.h"

namespace attend {

enum class ErrorUnit { kWords, kCharacters };

// 100 times the words (or characters) that must be put in, left out or replaced to make a text its
// reference, over the reference's (Levenshtein 1966), equal to jiwer 4.0.0's by its default
// transformations. Of several references, the one that is nearest. Where no reference has any, each
// word counts as one whole error, as there.
class ErrorRate : public Metric {
 public:
  explicit ErrorRate(ErrorUnit unit, bool lowercase = false) : unit_(unit), lowercase_(lowercase) {}
  std::string Name() const override { return unit_ == ErrorUnit::kWords ? "WER" : "CER"; }
  // Errors, units of the reference.
  MetricStatistics Statistics(std::string_view hypothesis,
                              const std::vector<std::string_view>& references) const override;
  double Score(const MetricStatistics& sums) const override;
  std::string Details(const MetricStatistics& sums) const override;
  std::string Settings() const override;
  // sacreBLEU has no such metric, so its version is not named.
  std::string Signature(size_t references) const override;

 private:
  ErrorUnit unit_;
  bool lowercase_;
};

}  // namespace attend

#endif  // ATTEND_METRICS_ERROR_RATE_H_
