// The layers' matrix products.
#ifndef ATTEND_NN_LINEAR_H_
#define ATTEND_NN_LINEAR_H_

#include "attend/nn/torch.h"

namespace attend::nn {

// torch::linear, x W^T + b. On a CPU, where gradients are wanted, by kernels of our own
// (packed_factor.h); under Bf16Products f32 gives f32 there. Without gradients f32 products are
// LibTorch's, so that what is exported was computed by other code than the engine's or ours; so are
// those of a backward pass with create_graph.
torch::Tensor Linear(const torch::Tensor& x, const torch::Tensor& weight,
                     const torch::Tensor& bias);
inline torch::Tensor Linear(const torch::Tensor& x, const torch::nn::Linear& linear) {
  return Linear(x, linear->weight, linear->bias);
}

}  // namespace attend::nn

#endif  // ATTEND_NN_LINEAR_H_
