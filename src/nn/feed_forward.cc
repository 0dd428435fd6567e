#include "attend/nn/feed_forward.h"

#include "nn/fused/residual_norm.h"
#include "nn/linear.h"

namespace attend::nn {

PositionwiseFeedForwardImpl::PositionwiseFeedForwardImpl(const StackConfig& config,
                                                         double hidden_dropout)
    : activation_(config.activation), hidden_dropout_(hidden_dropout) {
  const auto linear = [&](int64_t in, int64_t out) {
    return LinearLayer(in, out, config.feed_forward_bias);
  };
  inner = register_module("inner", linear(config.d_model, config.d_ff));
  if (IsGated(activation_)) {
    gate = register_module("gate", linear(config.d_model, config.d_ff));
  }
  outer = register_module("outer", linear(config.d_ff, config.d_model));
}

torch::Tensor PositionwiseFeedForwardImpl::Hidden(const torch::Tensor& input_BTD) {
  torch::Tensor inner_BTF = Linear(input_BTD, inner);
  switch (activation_) {
    case Activation::kRelu:
      return inner_BTF.relu_();
    case Activation::kGelu:
      return torch::gelu(inner_BTF);
    case Activation::kGeluTanh:
      return torch::gelu(inner_BTF, "tanh");
    case Activation::kSilu:
      return torch::silu(inner_BTF);
    case Activation::kSwiGlu:
      return torch::silu(Linear(input_BTD, gate)) * inner_BTF;
    default:
      return torch::gelu(Linear(input_BTD, gate), "tanh") * inner_BTF;
  }
}

torch::Tensor PositionwiseFeedForwardImpl::forward(const torch::Tensor& input_BTD,
                                                   DropoutStream* dropout) {
  const torch::Tensor hidden_BTF = Hidden(input_BTD);
  return Linear(AddDropped({}, hidden_BTF, NextSite(dropout, hidden_dropout_, is_training())),
                outer);
}

}  // namespace attend::nn
