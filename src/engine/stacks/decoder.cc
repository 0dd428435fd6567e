#include "engine/stacks/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attend {

void DecoderState::Reorder(int64_t first, std::span<const int32_t> parents) {
  for (size_t i = 0; i < parents.size(); ++i) spare_rows[i] = rows[first + parents[i]];
  for (size_t i = 0; i < parents.size(); ++i) rows[first + i].swap(spare_rows[i]);
}

Decoder::Decoder(const KernelTable& kernels, const TensorTable& tensors, const ModelConfig& config)
    : kernels_(&kernels),
      config_(*config.decoder),
      sizes_(*config.decoder),
      cross_attention_(config.encoder.has_value()),
      embedding_(kernels, tensors, DecoderEmbeddingName(config), "decoder", *config.decoder) {
  for (int64_t i = 0; i < config_.layers; ++i) {
    const std::string name = fmt::format("decoder.layers.{}.", i);
    const std::string self = name + "self_attention", cross = name + "cross_attention";
    Layer layer;
    layer.query_key_value = Linear(
        kernels, tensors, {self + ".query.weight", self + ".key.weight", self + ".value.weight"});
    layer.output = Linear(kernels, tensors, {self + ".output.weight"});
    layer.self_norm = LayerNorm(kernels, tensors, self + "_norm", config_);
    if (cross_attention_) {
      layer.cross_query = Linear(kernels, tensors, {cross + ".query.weight"});
      layer.cross_key_value =
          Linear(kernels, tensors, {cross + ".key.weight", cross + ".value.weight"});
      layer.cross_output = Linear(kernels, tensors, {cross + ".output.weight"});
      layer.cross_norm = LayerNorm(kernels, tensors, cross + "_norm", config_);
    }
    layer.feed_forward_norm = LayerNorm(kernels, tensors, name + "feed_forward_norm", config_);
    layer.feed_forward = FeedForward(kernels, tensors, name + "feed_forward", config_);
    layers_.push_back(std::move(layer));
  }
  if (config_.norm_place == NormPlace::kPre) {
    norm_ = LayerNorm(kernels, tensors, "decoder.norm", config_);
  }
}

void Decoder::Start(std::vector<DecoderState::Source> sources, const float* memory_SD,
                    int64_t memory_rows, DecoderState* state) const {
  state->slots = std::ssize(sources);
  state->sources = std::move(sources);
  state->layers.resize(layers_.size());
  state->cross.resize(layers_.size());
  // Rows were numbered for another count of slots; their memory is used again.
  state->rows.resize(state->slots);
  state->spare_rows.resize(state->slots);
  for (std::vector<int32_t>& rows : state->rows) rows.clear();
  if (!cross_attention_) return;
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Linear& product = layers_[i].cross_key_value;
    product.Apply(memory_SD, memory_rows, state->cross[i].Get(memory_rows * product.columns()));
  }
}

void Decoder::Grow(std::span<const DecoderRow> rows, DecoderState* state) const {
  state->positions.clear();
  int64_t last = 0;
  for (const DecoderRow& row : rows) {
    std::vector<int32_t>& past = state->rows[row.slot];
    const int64_t position = std::ssize(past);
    state->positions.push_back(position);
    past.push_back(static_cast<int32_t>(position * state->slots + row.slot));
    last = std::max(last, position);
  }
  const size_t needed = (last + 1) * state->slots;
  for (DecoderState::Past& past : state->layers) {
    if (past.keys.size() >= needed * sizes_.key_columns()) continue;
    // Sixteen positions at a time at least; the vectors grow by doubling.
    const size_t reserved = needed + 16 * state->slots;
    past.keys.resize(reserved * sizes_.key_columns());
    past.values.resize(reserved * sizes_.value_columns());
  }
}

void Decoder::SelfAttend(int64_t layer, std::span<const DecoderRow> rows, const float* x_RD,
                         DecoderState* state, Scratch* scratch, const Sinks& sinks) const {
  const Linear& product = layers_[layer].query_key_value;
  const int64_t stride = product.columns(), count = std::ssize(rows);
  const int64_t keys = sizes_.key_columns(), values = sizes_.value_columns();
  float* projected = scratch->projected.Get(count * stride);
  product.Apply(x_RD, count, projected);
  DecoderState::Past& past = state->layers[layer];
  for (int64_t r = 0; r < count; ++r) {
    const int64_t at = state->rows[rows[r].slot][state->positions[r]];
    const float* row = projected + r * stride;
    std::copy_n(row + keys, keys, past.keys.data() + at * keys);
    std::copy_n(row + 2 * keys, values, past.values.data() + at * values);
  }
  float* context = scratch->context.Get(count * values);
  for (int64_t r = 0; r < count; ++r) {
    const int64_t seen = state->positions[r] + 1;
    float* weights = scratch->weights.Get(sizes_.heads * seen);
    kernels_->attention({projected + r * stride, past.keys.data(), keys, past.values.data(), values,
                         state->rows[rows[r].slot].data(), seen, sizes_.heads, sizes_.d_k,
                         sizes_.d_v, 1 / std::sqrt(static_cast<float>(sizes_.d_k)), weights,
                         context + r * values});
    if (sinks.attention) sinks.attention(AttentionPlace::kDecoderSelf, layer, r, weights, seen);
  }
}

void Decoder::CrossAttend(int64_t layer, std::span<const DecoderRow> rows, const float* x_RD,
                          DecoderState* state, Scratch* scratch, const Sinks& sinks) const {
  const int64_t keys = sizes_.key_columns(), values = sizes_.value_columns();
  const int64_t stride = keys + values, count = std::ssize(rows);
  float* query = scratch->projected.Get(count * keys);
  layers_[layer].cross_query.Apply(x_RD, count, query);
  float* context = scratch->context.Get(count * values);
  const float* cross = state->cross[layer].Get(0);
  for (int64_t r = 0; r < count; ++r) {
    const DecoderState::Source& source = state->sources[rows[r].slot];
    float* weights = scratch->weights.Get(sizes_.heads * source.count);
    const float* first = cross + source.first * stride;
    kernels_->attention({query + r * keys, first, stride, first + keys, stride, nullptr,
                         source.count, sizes_.heads, sizes_.d_k, sizes_.d_v,
                         1 / std::sqrt(static_cast<float>(sizes_.d_k)), weights,
                         context + r * values});
    if (sinks.attention) sinks.attention(AttentionPlace::kCross, layer, r, weights, source.count);
  }
}

void Decoder::Run(std::span<const DecoderRow> rows, DecoderState* state, PositionTable* positions,
                  Scratch* scratch, const Sinks& sinks, Buffer* output_RD) const {
  Grow(rows, state);
  const int64_t count = std::ssize(rows);
  float* x_RD = output_RD->Get(count * config_.d_model);
  for (int64_t r = 0; r < count; ++r) {
    embedding_.Apply(rows[r].token, state->positions[r], positions, x_RD + r * config_.d_model);
  }
  if (sinks.activation) sinks.activation(false, -1, x_RD, count);
  scratch->timer.Book(&WorkSeconds::rest);
  for (int64_t i = 0; i < config_.layers; ++i) {
    const Layer& layer = layers_[i];
    const auto sublayer = [&](const LayerNorm& norm, auto f) {
      ApplySublayer(config_.norm_place, norm, x_RD, count, scratch, f);
    };
    sublayer(layer.self_norm, [&](const float* input, const float* residual, float* y) {
      SelfAttend(i, rows, input, state, scratch, sinks);
      layer.output.Apply(scratch->context.Get(0), count, y, MatmulActivation::kNone, residual);
    });
    scratch->timer.Book(&WorkSeconds::self_attention);
    if (cross_attention_) {
      sublayer(layer.cross_norm, [&](const float* input, const float* residual, float* y) {
        CrossAttend(i, rows, input, state, scratch, sinks);
        layer.cross_output.Apply(scratch->context.Get(0), count, y, MatmulActivation::kNone,
                                 residual);
      });
      scratch->timer.Book(&WorkSeconds::cross_attention);
    }
    sublayer(layer.feed_forward_norm, [&](const float* input, const float* residual, float* y) {
      layer.feed_forward.Apply(input, count, residual, y, scratch);
    });
    scratch->timer.Book(&WorkSeconds::feed_forward);
    if (sinks.activation) sinks.activation(false, i, x_RD, count);
  }
  if (config_.norm_place == NormPlace::kPre) norm_.Apply(x_RD, count, x_RD);
  if (sinks.activation) sinks.activation(false, config_.layers, x_RD, count);
}

}  // namespace attend
