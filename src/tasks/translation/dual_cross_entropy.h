// Dual conditional cross-entropy (Junczys-Dowmunt 2018, "Dual Conditional Cross-Entropy Filtering
// of Noisy Parallel Corpora", section 2.1): how well two models of opposite directions agree that a
// pair is a translation, and that it is a likely one.
#ifndef ATTEND_TASKS_TRANSLATION_DUAL_CROSS_ENTROPY_H_
#define ATTEND_TASKS_TRANSLATION_DUAL_CROSS_ENTROPY_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attend/scorer.h"

namespace attend {

class DualCrossEntropy {
 public:
  // `forward` translates sources to targets, `backward` targets to sources. Throws Error(kUsage)
  // where both name their languages, and these are not each other's reverse.
  DualCrossEntropy(std::shared_ptr<const Model> forward, std::shared_ptr<const Model> backward,
                   int threads);

  // For each pair exp(-(|f - b| + (f + b) / 2)), from 0 to 1, where f and b are the models'
  // negative log-probabilities of a token (natural, eos counted). Empty of a pair that is longer
  // than learned positions reach. Throws what Scorer::Score throws otherwise.
  std::vector<std::optional<double>> Score(std::span<const std::string> sources,
                                           std::span<const std::string> targets,
                                           ScoreOptions options) const;

 private:
  Scorer forward_, backward_;
};

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSLATION_DUAL_CROSS_ENTROPY_H_
