#include "attend/nn/layers.h"

#include "nn/residual.h"

namespace attend::nn {

EncoderLayerImpl::EncoderLayerImpl(const StackConfig& config, const Dropout& dropout)
    : norm_place_(config.norm_place), residual_dropout_(dropout.residual) {
  self_attention = register_module("self_attention", MultiHeadAttention(config, dropout.attention));
  self_attention_norm = register_module("self_attention_norm", Norm(config));
  feed_forward =
      register_module("feed_forward", PositionwiseFeedForward(config, dropout.feed_forward));
  feed_forward_norm = register_module("feed_forward_norm", Norm(config));
}

torch::Tensor EncoderLayerImpl::forward(torch::Tensor x_BSD, const AttentionMask& mask,
                                        LayerTrace* trace, DropoutStream* dropout) {
  LayerTrace unused;
  LayerTrace& seen = trace != nullptr ? *trace : unused;
  const Residual residual{norm_place_, residual_dropout_, is_training(), dropout};

  x_BSD = residual(x_BSD, self_attention_norm, [&](const torch::Tensor& x) {
    return self_attention(x, x, mask, trace != nullptr ? &seen.self_weights_BHTT : nullptr,
                          dropout);
  });
  seen.self_attention_BTD = x_BSD;
  x_BSD = residual(x_BSD, feed_forward_norm,
                   [&](const torch::Tensor& x) { return feed_forward(x, dropout); });
  seen.feed_forward_BTD = x_BSD;
  return x_BSD;
}

DecoderLayerImpl::DecoderLayerImpl(const StackConfig& config, const Dropout& dropout,
                                   bool with_cross_attention)
    : norm_place_(config.norm_place), residual_dropout_(dropout.residual) {
  if (config.recurrence == Recurrence::kSsru) {
    recurrence = register_module("recurrence", Ssru(config));
    recurrence_norm = register_module("recurrence_norm", Norm(config));
  } else {
    self_attention =
        register_module("self_attention", MultiHeadAttention(config, dropout.attention));
    self_attention_norm = register_module("self_attention_norm", Norm(config));
  }
  if (with_cross_attention) {
    cross_attention =
        register_module("cross_attention", MultiHeadAttention(config, dropout.attention));
    cross_attention_norm = register_module("cross_attention_norm", Norm(config));
  }
  feed_forward =
      register_module("feed_forward", PositionwiseFeedForward(config, dropout.feed_forward));
  feed_forward_norm = register_module("feed_forward_norm", Norm(config));
}

torch::Tensor DecoderLayerImpl::forward(torch::Tensor x_BTD, const AttentionMask& self_mask,
                                        const Memory& memory, LayerTrace* trace,
                                        DropoutStream* dropout) {
  LayerTrace unused;
  LayerTrace& seen = trace != nullptr ? *trace : unused;
  const Residual residual{norm_place_, residual_dropout_, is_training(), dropout};

  if (!recurrence.is_empty()) {
    x_BTD = residual(x_BTD, recurrence_norm,
                     [&](const torch::Tensor& x) { return recurrence(x, self_mask); });
  } else {
    x_BTD = residual(x_BTD, self_attention_norm, [&](const torch::Tensor& x) {
      return self_attention(x, x, self_mask, trace != nullptr ? &seen.self_weights_BHTT : nullptr,
                            dropout);
    });
  }
  seen.self_attention_BTD = x_BTD;
  if (!cross_attention.is_empty()) {
    torch::Tensor* const weights = memory.kept != nullptr ? &memory.kept->weights_BHTS
                                   : trace != nullptr     ? &seen.cross_weights_BHTS
                                                          : nullptr;
    x_BTD = residual(x_BTD, cross_attention_norm, [&](const torch::Tensor& x) {
      return cross_attention(x, memory.hidden_BSD, memory.mask, weights, dropout);
    });
    seen.cross_attention_BTD = x_BTD;
  }
  x_BTD = residual(x_BTD, feed_forward_norm,
                   [&](const torch::Tensor& x) { return feed_forward(x, dropout); });
  seen.feed_forward_BTD = x_BTD;
  return x_BTD;
}

torch::Tensor DecoderLayerImpl::Step(torch::Tensor x_RD, const NextPlaces& next,
                                     const LayerState& state) {
  const Residual residual{norm_place_, /*dropout=*/0, /*training=*/false, nullptr};
  if (!recurrence.is_empty()) {
    x_RD = residual(x_RD, recurrence_norm, [&](const torch::Tensor& x) {
      return recurrence->Step(x, state.recurrence_RD);
    });
  } else {
    x_RD = residual(x_RD, self_attention_norm, [&](const torch::Tensor& x) {
      const std::vector<torch::Tensor> own = self_attention->KeysAndValues(x);
      state.keys_RTE->index_put_({next.rows_R, next.places_R}, own[0]);
      state.values_RTE->index_put_({next.rows_R, next.places_R}, own[1]);
      return self_attention->OverOwn(x, *state.keys_RTE, *state.values_RTE, next.self_mask);
    });
  }
  if (!cross_attention.is_empty()) {
    x_RD = residual(x_RD, cross_attention_norm, [&](const torch::Tensor& x) {
      return cross_attention->OverOwn(x, *state.source_keys_RSE, *state.source_values_RSE,
                                      next.cross_mask);
    });
  }
  return residual(x_RD, feed_forward_norm,
                  [&](const torch::Tensor& x) { return feed_forward(x, nullptr); });
}

}  // namespace attend::nn
