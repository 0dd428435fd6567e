#include "cli/rerank/weight_search.h"

#include <algorithm>
#include <numeric>

namespace attend {

double WeightedSum(const Features& features, const std::vector<double>& weights) {
  return std::inner_product(features.begin(), features.end(), weights.begin(), 0.0);
}

std::vector<size_t> OrderOf(const std::vector<Features>& list, const std::vector<double>& weights) {
  std::vector<double> sums;
  for (const Features& features : list) sums.push_back(WeightedSum(features, weights));
  std::vector<size_t> order(list.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return sums[a] > sums[b]; });
  return order;
}

double CorpusScoreOf(const std::vector<ScoredList>& lists, const Metric& metric,
                     const std::vector<double>& weights) {
  MetricStatistics sums;
  for (const ScoredList& list : lists) {
    const auto first = std::ranges::max_element(
        list.features, {}, [&](const Features& each) { return WeightedSum(each, weights); });
    const MetricStatistics& best = list.statistics[first - list.features.begin()];
    sums.resize(best.size());
    for (size_t i = 0; i < best.size(); ++i) sums[i] += best[i];
  }
  return metric.Score(sums);
}

std::vector<double> TuneWeights(const std::vector<ScoredList>& lists, const Metric& metric,
                                std::vector<double> weights) {
  constexpr double kFirstStep = 0.5, kLastStep = 1.0 / 64;
  double best = CorpusScoreOf(lists, metric, weights);
  // Takes the weight's change where it is better.
  const auto improves = [&](size_t place, double change) {
    std::vector<double> changed = weights;
    changed[place] += change;
    const double score = CorpusScoreOf(lists, metric, changed);
    if (score <= best) return false;
    best = score;
    weights = std::move(changed);
    return true;
  };
  for (double step = kFirstStep; step >= kLastStep;) {
    bool better = false;
    for (size_t i = 1; i < weights.size(); ++i) {
      for (const double far : {1, 2, 4, 8})  // what is near may be no better
        better |= improves(i, far * step) || improves(i, -far * step);
    }
    if (!better) step /= 2;
  }
  return weights;
}

}  // namespace attend
