// Several models that search together.
//
// What follows a row has the weighted mean of the models' log-probabilities,
//   log P(y) = sum over m of w_m log P_m(y), the weights w_m summing to 1,
// which is not normalised again: an output's log-probability is the weighted mean of those that the
// models give it alone. Sums are made in the order of the models, so bits depend on nothing else.
#ifndef ATTEND_ENGINE_ENSEMBLE_STEPPER_H_
#define ATTEND_ENGINE_ENSEMBLE_STEPPER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/row_sampler.h"
#include "kernels/inference/kernels.h"
#include "search/forbidden_tokens.h"
#include "search/stepper.h"

namespace attend {

struct EnsembleMember {
  std::unique_ptr<WholeStepper> stepper;
  double weight = 1;
};

// Draws from the mean distribution, normalised as every draw is; the log-probabilities of what is
// drawn are means, too. A row's attention is the weighted mean of the members'.
class EnsembleStepper : public Stepper {
 public:
  // Preconditions: one member or more, with equal vocabularies; their weights sum to 1.
  EnsembleStepper(std::vector<EnsembleMember> members, const KernelTable& kernels,
                  const SpecialIds& ids);

  void Reset(int64_t beam_size) override;
  void Start(std::span<const NewSentence> sentences) override;
  void Step(std::span<const StepRow> rows, int64_t k, Candidate* best) override;
  void Reorder(int64_t sentence, std::span<const int32_t> parents) override;

 private:
  void Read(std::span<const StepRow> rows);
  // The means of asking rows [first, first + count): [count, V] in mean_CV_, and log_sums_.
  void AverageLogits(int64_t first, int64_t count);
  // Whose mean logits and what is taken off them are given.
  void Answer(const StepRow& row, std::span<const float> logits_V, double log_sum, int64_t k,
              Candidate* best);
  void AnswerBest(const StepRow& row, std::span<const float> logits_V, double log_sum, int64_t k,
                  Candidate* best);

  std::vector<EnsembleMember> members_;
  const KernelTable& kernels_;
  const ForbiddenTokens forbidden_;
  const int64_t vocabulary_size_;
  std::vector<StepRow> rows_;           // of the member that reads
  std::vector<float> attention_;        // which it writes, row after row
  std::vector<float> mean_CV_, of_CV_;  // of the member whose logits are added
  std::vector<double> log_sums_, of_log_sums_;
  std::vector<int32_t> never_;  // of one row
  std::vector<float> top_values_;
  std::vector<int32_t> top_ids_;
  RowSampler sampler_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_ENSEMBLE_STEPPER_H_
