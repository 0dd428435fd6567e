// Paired bootstrap resampling. The samples are the very ones that sacreBLEU draws with the same
// seed (NumPy's default_rng(seed).choice, sample by sample), so that p-values differ from its own
// only where its single precision does.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attend/error.h"
#include "attend/metrics.h"
#include "metrics/pcg64.h"

namespace attend {
namespace {

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Half of the distance between the values that cut 1/40 off either end.
double Confidence(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t lower = values.size() / 40;
  return 0.5 * (values[values.size() - lower - 1] - values[lower]);
}

void Add(const MetricStatistics& sentence, MetricStatistics* sums) {
  for (size_t i = 0; i < sums->size(); ++i) (*sums)[i] += sentence[i];
}

}  // namespace

BootstrapResult PairedBootstrap(const Metric& metric, const std::vector<MetricStatistics>& baseline,
                                const std::vector<MetricStatistics>& system,
                                const BootstrapOptions& options) {
  if (baseline.size() != system.size() || system.empty() || options.samples < 1) {
    throw Error(ErrorKind::kUsage,
                fmt::format("bootstrap of {} sentences against {} with {} samples, expected "
                            "the same sentences and one sample at least",
                            system.size(), baseline.size(), options.samples));
  }
  Pcg64 random(options.seed);
  std::vector<double> baseline_scores, system_scores, differences;
  for (int64_t sample = 0; sample < options.samples; ++sample) {
    MetricStatistics baseline_sums(system[0].size(), 0), system_sums(system[0].size(), 0);
    for (size_t i = 0; i < system.size(); ++i) {
      const uint32_t drawn = random.Below(static_cast<uint32_t>(system.size()));
      Add(baseline[drawn], &baseline_sums);
      Add(system[drawn], &system_sums);
    }
    baseline_scores.push_back(metric.Score(baseline_sums));
    system_scores.push_back(metric.Score(system_sums));
    differences.push_back(std::abs(system_scores.back() - baseline_scores.back()));
  }
  // The differences, centred, are what equally good systems would show; how many exceed what was
  // seen? One is added on both sides, so that no p-value is 0.
  const double seen =
      std::abs(metric.Score(SumStatistics(baseline)) - metric.Score(SumStatistics(system)));
  const double centre = Mean(differences);
  const auto larger = std::count_if(differences.begin(), differences.end(),
                                    [&](double value) { return value - centre > seen; });
  BootstrapResult result;
  result.p_value = static_cast<double>(larger + 1) / static_cast<double>(differences.size() + 1);
  result.mean = Mean(system_scores);
  result.confidence = Confidence(system_scores);
  result.baseline_mean = Mean(baseline_scores);
  result.baseline_confidence = Confidence(baseline_scores);
  return result;
}

}  // namespace attend
