// A model as searches see it.
#ifndef ATTEND_ENGINE_MODEL_STEPPER_H_
#define ATTEND_ENGINE_MODEL_STEPPER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/output_layer.h"
#include "engine/weights.h"
#include "model/shortlist.h"
#include "search/forbidden_tokens.h"
#include "search/stepper.h"

namespace attend {

// Has the cache of its search. Weights and activations must outlive it. Precondition: the model has
// a decoder with a vocabulary head.
class ModelStepper : public WholeStepper {
 public:
  // With a shortlist the best tokens of a sentence come from its columns of the output layer, and
  // their probabilities are among those.
  ModelStepper(const Weights* weights, std::shared_ptr<const Shortlist> shortlist,
               Activations* activations);

  void Reset(int64_t beam_size) override;
  void Start(std::span<const NewSentence> sentences) override;
  void Step(std::span<const StepRow> rows, int64_t k, Candidate* best) override;
  void Reorder(int64_t sentence, std::span<const int32_t> parents) override;
  int64_t vocabulary_size() const override { return weights_->vocabulary_head->columns(); }
  void Read(std::span<const StepRow> rows) override;
  void AllLogits(int64_t first, int64_t count, float* logits_CV, double* log_sums_C) override;

 private:
  // Of the rows that want their attention: the mean of the alignment layer's heads.
  Sinks AttentionOf(std::span<const StepRow> rows) const;
  NextToken AskedOf(const StepRow& row);
  // Of a sentence that begins.
  void SelectColumns(const NewSentence& sentence);

  const Weights* weights_;
  const std::shared_ptr<const Shortlist> shortlist_;
  Activations* activations_;
  const ForbiddenTokens forbidden_;
  DecoderCache cache_;
  std::vector<ShortHead> short_heads_;  // by sentence; with a shortlist
  std::vector<DecoderRow> rows_;
  std::vector<int32_t> asking_;  // rows, rising
  std::vector<NextToken> asked_;
  std::vector<std::vector<int32_t>> never_;  // forbidden to rows that have their own
};

}  // namespace attend

#endif  // ATTEND_ENGINE_MODEL_STEPPER_H_
