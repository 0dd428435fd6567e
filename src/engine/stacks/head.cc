#include "engine/stacks/head.h"

#include <algorithm>
#include <cmath>

namespace attend {

EncoderHead::EncoderHead(const WeightSource& weights, const ModelConfig& config)
    : activation_(config.encoder->activation),
      product_(weights, {OutputWeightName(config)}, "head.bias") {
  if (config.head_transform) {
    transform_.emplace(weights, std::vector<std::string>{"head.transform.weight"});
    norm_ = Norm(weights, "head.norm", *config.encoder);
  }
  if (config.head_pooler) {
    pooler_.emplace(weights, std::vector<std::string>{"head.pooler.weight"});
    if (config.pooler_activation == PoolerActivation::kRelu)
      pooler_activation_ = MatmulActivation::kRelu;
  }
}

void EncoderHead::Apply(float* x_RD, int64_t rows, Scratch* scratch, float* logits) const {
  const auto dense = [&](const Linear& product, MatmulActivation activation) {
    float* y_RD = scratch->normal_RD.Get(rows * product.columns());
    product.Apply(x_RD, rows, &scratch->linear, y_RD, activation);
    std::copy_n(y_RD, rows * product.columns(), x_RD);
  };
  if (transform_) {
    dense(*transform_, MatmulActivationOf(activation_));
    norm_.Apply(x_RD, rows, x_RD);
  }
  if (pooler_) {
    dense(*pooler_, pooler_activation_);
    if (pooler_activation_ == MatmulActivation::kNone)
      for (float& x : std::span(x_RD, rows * pooler_->columns()))
        x = static_cast<float>(std::tanh(static_cast<double>(x)));
  }
  product_.Apply(x_RD, rows, &scratch->linear, logits);
}

}  // namespace attend
