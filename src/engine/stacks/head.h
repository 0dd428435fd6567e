// The head of an encoder: tokens or labels of the rows that it makes.
#ifndef ATTEND_ENGINE_STACKS_HEAD_H_
#define ATTEND_ENGINE_STACKS_HEAD_H_

#include <optional>

#include "engine/blocks/layer.h"

namespace attend {

// Immutable; shared between threads, each with a Scratch of its own.
class EncoderHead {
 public:
  EncoderHead(const WeightSource& weights, const ModelConfig& config);

  int64_t width() const { return product_.columns(); }
  // Logits [rows, width] of vectors [rows, D], which are overwritten where layers stand before the
  // projection (BERT's transform or pooler).
  void Apply(float* x_RD, int64_t rows, Scratch* scratch, float* logits) const;

 private:
  Activation activation_;
  std::optional<Linear> transform_, pooler_;
  MatmulActivation pooler_activation_ = MatmulActivation::kNone;  // then tanh is by itself
  Norm norm_;                                                     // after the transform
  Linear product_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_STACKS_HEAD_H_
