// A model of LibTorch as searches see it: on any device, and of any architecture. The engine's
// ModelStepper is its fast equal for Transformers on CPUs.
#ifndef ATTEND_TRAIN_SEARCH_TORCH_STEPPER_H_
#define ATTEND_TRAIN_SEARCH_TORCH_STEPPER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "attend/nn/decoder_state.h"
#include "attend/nn/sequence_model.h"
#include "attend/nn/torch.h"
#include "search/forbidden_tokens.h"
#include "search/stepper.h"
#include "tasks/loaded_model.h"

namespace attend {

// Has the state of its search. Draws no tokens: Error(kUsage) where a row wants that. The model may
// be shared with other steppers, and is not trained meanwhile.
class TorchStepper : public Stepper {
 public:
  explicit TorchStepper(std::shared_ptr<nn::SequenceModelImpl> model);

  void Reset(int64_t beam_size) override;
  void Start(std::span<const NewSentence> sentences) override;
  void Step(std::span<const StepRow> rows, int64_t k, Candidate* best) override;
  void Reorder(int64_t sentence, std::span<const int32_t> parents) override;

 private:
  // What the encoder reads of them.
  nn::PackedIds Pack(std::span<const NewSentence> sentences) const;
  // Hidden states of the rows, in their order. Those of one hypothesis are read in turn.
  torch::Tensor Read(std::span<const StepRow> rows);
  // Of these hypotheses, which differ.
  torch::Tensor ReadOnce(const std::vector<int32_t>& hypotheses, const std::vector<int64_t>& ids);
  void Answer(const std::vector<const StepRow*>& asking, const torch::Tensor& log_probabilities_RV,
              int64_t k, Candidate* best) const;

  const std::shared_ptr<nn::SequenceModelImpl> model_;
  const torch::Device device_;
  const ForbiddenTokens forbidden_;
  int64_t beam_size_ = 1;
  nn::DecoderState state_;
  std::vector<int64_t> row_of_;  // of state_, by hypothesis; -1: it is not live
};

// What a Translator runs in place of the engine: `stored` gives configuration and vocabularies,
// `model` has its weights. Its threads share the model.
std::shared_ptr<const LoadedModel> RunByTorch(std::shared_ptr<const Model> stored,
                                              std::shared_ptr<nn::SequenceModelImpl> model);

}  // namespace attend

#endif  // ATTEND_TRAIN_SEARCH_TORCH_STEPPER_H_
