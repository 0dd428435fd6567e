// Training that sees what int8 does to a model: products whose inputs are rounded as the engine's
// int8 products round them, with gradients as if they were not (the straight-through estimator;
// Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
// Inference", 2018, section 3).
#ifndef ATTEND_NN_INT8_ROUNDING_H_
#define ATTEND_NN_INT8_ROUNDING_H_

#include "attend/nn/torch.h"

namespace attend::nn {

// While one lives and `on`, `Linear` on the calling thread rounds both its inputs.
class Int8Rounding {
 public:
  explicit Int8Rounding(bool on);
  ~Int8Rounding();
  Int8Rounding(const Int8Rounding&) = delete;
  Int8Rounding& operator=(const Int8Rounding&) = delete;

  static bool on();

 private:
  bool was_on_;
};

// A weight as QuantizeModel rounds it, a scale a row; the weight itself while rounding is off.
torch::Tensor RoundedWeight(const torch::Tensor& weight_ED);
// Rows of activations [..., D] as the engine rounds them, a scale a row; themselves while it is
// off.
torch::Tensor RoundedRows(const torch::Tensor& x);

}  // namespace attend::nn

#endif  // ATTEND_NN_INT8_ROUNDING_H_
