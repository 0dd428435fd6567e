// What an n-best list is ordered by: a weighted sum of features; and weights that are good for
// BLEU.
#ifndef ATTEND_CLI_RERANK_WEIGHT_SEARCH_H_
#define ATTEND_CLI_RERANK_WEIGHT_SEARCH_H_

#include <cstddef>
#include <vector>

#include "attend/metrics.h"

namespace attend {

// Of one hypothesis, the search's own score first.
using Features = std::vector<double>;

double WeightedSum(const Features& features, const std::vector<double>& weights);

// Places of a list's hypotheses, the largest weighted sum first; equal ones stay in order.
std::vector<size_t> OrderOf(const std::vector<Features>& list, const std::vector<double>& weights);

// One list, with what the metric counts of each hypothesis.
struct ScoredList {
  std::vector<Features> features;
  std::vector<MetricStatistics> statistics;
};

// Of the best hypothesis of each list. Precondition: no list is empty.
double CorpusScoreOf(const std::vector<ScoredList>& lists, const Metric& metric,
                     const std::vector<double>& weights);

// Weights that are at least as good as these by the metric: pattern search (Hooke and Jeeves 1961).
// Each weight but the first, which gives the scale, is tried one, two, four and eight steps above
// and below; what is better is taken. Where nothing is, the step is halved, from 1/2 to 1/64.
// Deterministic.
std::vector<double> TuneWeights(const std::vector<ScoredList>& lists, const Metric& metric,
                                std::vector<double> weights);

}  // namespace attend

#endif  // ATTEND_CLI_RERANK_WEIGHT_SEARCH_H_
