#include "attend/nn/head.h"

#include "nn/linear.h"

namespace attend::nn {

HeadImpl::HeadImpl(const ModelConfig& config)
    : activation_(config.last_stack().activation), pooler_activation_(config.pooler_activation) {
  const bool labels = config.head == HeadKind::kLabels;
  const int64_t width = config.last_stack().d_model, outputs = config.head_width();
  if (labels || !config.tie_target_output)
    weight = register_parameter("weight", torch::zeros({outputs, width}));
  if (labels || config.head_bias) bias = register_parameter("bias", torch::zeros({outputs}));
  if (config.crf) {
    crf = {register_parameter("begin", torch::zeros({outputs})),
           register_parameter("end", torch::zeros({outputs})),
           register_parameter("transitions", torch::zeros({outputs, outputs}))};
  }
  if (config.head_transform) {
    transform = register_module("transform", torch::nn::Linear(width, width));
    norm = register_module("norm", Norm(config.last_stack()));
  }
  if (config.head_pooler) pooler = register_module("pooler", torch::nn::Linear(width, width));
}

torch::Tensor HeadImpl::forward(const torch::Tensor& hidden_RD) {
  if (!pooler.is_empty()) {
    const torch::Tensor dense_RD = Linear(hidden_RD, pooler);
    return pooler_activation_ == PoolerActivation::kRelu ? dense_RD.relu() : dense_RD.tanh();
  }
  if (transform.is_empty()) return hidden_RD;
  const torch::Tensor dense_RD = Linear(hidden_RD, transform);
  return norm(activation_ == Activation::kRelu ? dense_RD.relu() : torch::gelu(dense_RD));
}

}  // namespace attend::nn
