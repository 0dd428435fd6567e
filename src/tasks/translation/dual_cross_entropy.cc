#include "tasks/translation/dual_cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/model_directory.h"
#include "tasks/translation/directions.h"

namespace attend {
namespace {

// Of a token.
double CrossEntropy(const PairScore& score) {
  return -score.log_probability / static_cast<double>(score.token_log_probabilities.size());
}

}  // namespace

DualCrossEntropy::DualCrossEntropy(std::shared_ptr<const Model> forward,
                                   std::shared_ptr<const Model> backward, int threads)
    : forward_(forward, threads), backward_(backward, threads) {
  CheckOppositeDirection(forward->config, backward->config, "the reverse model");
}

std::vector<std::optional<double>> DualCrossEntropy::Score(std::span<const std::string> sources,
                                                           std::span<const std::string> targets,
                                                           ScoreOptions options) const {
  options.skip_too_long = true;
  const std::vector<PairScore> there = forward_.Score(sources, targets, options),
                               back = backward_.Score(targets, sources, options);
  std::vector<std::optional<double>> scores(there.size());
  for (size_t i = 0; i < there.size(); ++i) {
    if (there[i].token_log_probabilities.empty() || back[i].token_log_probabilities.empty())
      continue;
    const double f = CrossEntropy(there[i]), b = CrossEntropy(back[i]);
    scores[i] = std::exp(-(std::abs(f - b) + (f + b) / 2));
  }
  return scores;
}

}  // namespace attend
