#include "engine/stacks/encoder.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/stacks/fused_input.h"

namespace attend {

Encoder::Encoder(const WeightSource& weights, const ModelConfig& model)
    : Encoder(weights, EncoderShape(model)) {
  if (model.fusion) fused_ = std::make_shared<const FusedInput>(weights, model);
}

Encoder::Encoder(const WeightSource& weights, const EncoderShape& shape)
    : kernels_(&weights.kernels),
      config_(shape.stack),
      sizes_(config_),
      relative_bias_(weights, shape.name, config_) {
  if (shape.input != InputKind::kItems) input_.emplace(weights, shape);
  for (int64_t i = 0; i < config_.layers; ++i) {
    const std::string name = fmt::format("{}.layers.{}.", shape.name, i);
    const std::string self = name + "self_attention";
    layers_.push_back(
        {.query_key_value = Linear(
             weights, {self + ".query.weight", self + ".key.weight", self + ".value.weight"}),
         .output = Linear(weights, {self + ".output.weight"}),
         .attention_norm = Norm(weights, self + "_norm", config_),
         .feed_forward_norm = Norm(weights, name + "feed_forward_norm", config_),
         .feed_forward = FeedForward(weights, name + "feed_forward", config_)});
  }
  if (config_.norm_place == NormPlace::kPre) {
    norm_ = Norm(weights, shape.name + ".norm", config_);
  }
}

int64_t Encoder::RowsOf(const EncoderItem& item) const {
  return fused_ ? fused_->RowsOf(item) : input_->RowsOf(item);
}

void Encoder::SelfAttend(int64_t layer, const Batch& batch, const float* x_RD, Scratch* scratch,
                         const Sinks& sinks) const {
  const Linear& product = layers_[layer].query_key_value;
  const int64_t stride = product.columns(), keys = sizes_.key_columns();
  float* projected = scratch->projected.Get(batch.rows * stride);
  product.Apply(x_RD, batch.rows, &scratch->linear, projected);
  float* context = scratch->context.Get(batch.rows * sizes_.value_columns());
  int64_t first = 0;
  for (const int64_t count : batch.lengths) {
    scratch->key_rows.clear();
    for (int64_t r = first; r < first + count; ++r) {
      scratch->key_rows.push_back(projected + r * stride);
    }
    for (int64_t r = first; r < first + count; r += AttentionSizes::kTogether) {
      AttentionArguments arguments =
          sizes_.Arguments(projected + r * stride, stride, scratch->key_rows.data(), keys);
      arguments.queries = std::min(AttentionSizes::kTogether, first + count - r);
      arguments.count = count;
      arguments.output = context + r * sizes_.value_columns();
      batch.bias.Apply(r - first, &arguments);
      Attend(*kernels_, sinks.attention != nullptr, {config_.attention_window, r - first},
             &arguments, scratch);
      for (int64_t q = 0; sinks.attention && q < arguments.queries; ++q) {
        sinks.attention(AttentionPlace::kEncoderSelf, layer, r + q,
                        arguments.weights + q * sizes_.heads * count, count);
      }
    }
    first += count;
  }
}

void Encoder::Run(std::span<const EncoderItem> items, PositionTable* positions, Scratch* scratch,
                  const Sinks& sinks, Buffer* output_RD) const {
  int64_t rows = 0, longest = 0;
  for (const EncoderItem& item : items) {
    rows += RowsOf(item);
    longest = std::max(longest, RowsOf(item));
  }
  float* x_RD = output_RD->Get(rows * config_.d_model);
  fused_ ? fused_->Apply(items, positions, scratch, x_RD)
         : input_->Apply(items, positions, scratch, x_RD);
  std::vector<int64_t>& lengths = scratch->lengths;  // after encoders below have used it
  lengths.clear();
  for (const EncoderItem& item : items) lengths.push_back(RowsOf(item));
  const ScoreBias bias = positions->Bias(relative_bias_, longest);
  if (sinks.any()) return RunLayers({lengths, rows, bias}, scratch, sinks, x_RD);
  for (size_t first = 0, last; first < lengths.size(); first = last) {
    int64_t some = lengths[first];
    for (last = first + 1; last < lengths.size(); ++last) {
      if (some + lengths[last] > kRowsTogether) break;
      some += lengths[last];
    }
    const std::span<const int64_t> together(lengths.data() + first, last - first);
    RunLayers({together, some, bias}, scratch, sinks, x_RD);
    x_RD += some * config_.d_model;
  }
}

void Encoder::RunLayers(const Batch& batch, Scratch* scratch, const Sinks& sinks,
                        float* x_RD) const {
  const int64_t rows = batch.rows;
  if (sinks.activation) sinks.activation(true, -1, x_RD, rows);
  for (int64_t i = 0; i < config_.layers; ++i) {
    const Layer& layer = layers_[i];
    ApplySublayer(config_.norm_place, layer.attention_norm, x_RD, rows, scratch,
                  [&](const float* input, const float* residual, float* y) {
                    SelfAttend(i, batch, input, scratch, sinks);
                    layer.output.Apply(scratch->context.Get(0), rows, &scratch->linear, y,
                                       MatmulActivation::kNone, residual);
                  });
    ApplySublayer(config_.norm_place, layer.feed_forward_norm, x_RD, rows, scratch,
                  [&](const float* input, const float* residual, float* y) {
                    layer.feed_forward.Apply(input, rows, residual, y, scratch);
                  });
    if (sinks.activation) sinks.activation(true, i, x_RD, rows);
  }
  if (config_.norm_place == NormPlace::kPre) norm_.Apply(x_RD, rows, x_RD);
  if (sinks.activation) sinks.activation(true, config_.layers, x_RD, rows);
}

}  // namespace attend
