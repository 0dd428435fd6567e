// The layers' matrix products.
#ifndef ATTEND_NN_LINEAR_H_
#define ATTEND_NN_LINEAR_H_

#include <vector>

#include "attend/nn/linear_layer.h"
#include "attend/nn/torch.h"

namespace attend::nn {

// torch::linear, x W^T + b; of rounded inputs under Int8Rounding. On a CPU, where gradients are
// wanted, by kernels of our own (packed_factor.h); under Bf16Products f32 gives f32 there. Without
// gradients f32 products are LibTorch's, so that what is exported was computed by other code than
// the engine's or ours; so are those of a backward pass with create_graph.
torch::Tensor Linear(const torch::Tensor& x, const torch::Tensor& weight,
                     const torch::Tensor& bias);
inline torch::Tensor Linear(const torch::Tensor& x, const torch::nn::Linear& linear) {
  return Linear(x, linear->weight, linear->bias);
}
// The results of several layers that read one input, side by side: one product, for short ones
// leave the processor's units idle. All of them have biases or none has.
//
// A matrix with an adapter takes part as W + scale B A, which costs little beside the product. On a
// CPU its gradients are made without the one of the sum, a product as large as the forward one:
// that of B is scale (dy)^T (x A^T), that of A is scale (dy B)^T x.
torch::Tensor Linear(const torch::Tensor& x, const std::vector<LinearLayer>& layers);
inline torch::Tensor Linear(const torch::Tensor& x, const LinearLayer& layer) {
  return Linear(x, std::vector{layer});
}

}  // namespace attend::nn

#endif  // ATTEND_NN_LINEAR_H_
