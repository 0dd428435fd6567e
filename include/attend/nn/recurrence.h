// The simpler simple recurrent unit (SSRU) that Marian's students have in place of a decoder's
// self-attention. Kim et al. 2019, "From Research to Production and Back".
#ifndef ATTEND_NN_RECURRENCE_H_
#define ATTEND_NN_RECURRENCE_H_

#include "attend/model_config.h"
#include "attend/nn/linear_layer.h"
#include "attend/nn/masks.h"
#include "attend/nn/torch.h"

namespace attend::nn {

// f = sigmoid(forget(x)), state[t] = f * state[t - 1] + (1 - f) * input(x), y = max(0, state).
class SsruImpl : public torch::nn::Module {
 public:
  explicit SsruImpl(const StackConfig& config);
  // [B, T, D], or packed rows [R, D] with the mask of a causal self-attention.
  torch::Tensor forward(const torch::Tensor& x_BTD, const AttentionMask& mask);

  // The next token of each row; its state follows on `state_RD`.
  torch::Tensor Step(const torch::Tensor& x_RD, torch::Tensor* state_RD);

  LinearLayer input{nullptr};  // without bias
  LinearLayer forget{nullptr};
};
TORCH_MODULE(Ssru);

}  // namespace attend::nn

#endif  // ATTEND_NN_RECURRENCE_H_
