#include "attend/nn/patch_embedding.h"

#include "nn/linear.h"

namespace attend::nn {

PatchEmbeddingImpl::PatchEmbeddingImpl(const PatchInput& input, int64_t d_model)
    : LinearLayerImpl(input.patch_size(), d_model, /*with_bias=*/true), patches_(input.patches()) {
  if (input.class_token) class_token = register_parameter("class_token", torch::zeros({d_model}));
}

torch::Tensor PatchEmbeddingImpl::forward(const torch::Tensor& patches_PE) {
  const torch::Tensor x_BPD = Linear(patches_PE, weight, bias).unflatten(0, {-1, patches_});
  if (!class_token.defined()) return x_BPD;
  return torch::cat({class_token.expand({x_BPD.size(0), 1, -1}), x_BPD}, 1);
}

}  // namespace attend::nn
