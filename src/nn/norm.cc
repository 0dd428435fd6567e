#include "attend/nn/norm.h"

namespace attend::nn {

NormImpl::NormImpl(int64_t width, double epsilon, NormKind kind) : epsilon(epsilon) {
  weight = register_parameter("weight", torch::ones({width}));
  if (kind == NormKind::kLayerNorm) bias = register_parameter("bias", torch::zeros({width}));
}

NormImpl::NormImpl(const StackConfig& config)
    : NormImpl(config.d_model, config.norm_epsilon, config.norm) {}

torch::Tensor NormImpl::forward(const torch::Tensor& x_RD) {
  if (!bias.defined()) return torch::rms_norm(x_RD, weight.sizes(), weight, epsilon);
  return torch::layer_norm(x_RD, weight.sizes(), weight, bias, epsilon);
}

}  // namespace attend::nn
