#include "engine/stacks/decoder.h"

#include <fmt/format.h>

#include <algorithm>

namespace attend {
namespace {

// How many rows from row r on, at most those that attend together, are as it is.
template <class Alike>
int64_t CountAlike(int64_t rows, int64_t r, const Alike& alike) {
  const int64_t end = std::min(rows, r + AttentionSizes::kTogether);
  int64_t next = r + 1;
  while (next < end && alike(next)) ++next;
  return next - r;
}

}  // namespace

Decoder::Decoder(const WeightSource& weights, const ModelConfig& config)
    : kernels_(&weights.kernels),
      config_(*config.decoder),
      sizes_(*config.decoder),
      cross_attention_(config.encoder.has_value()),
      next_word_input_(config.next_word_input),
      embedding_(weights, DecoderEmbeddingName(config), "decoder", *config.decoder),
      relative_bias_(weights, "decoder", *config.decoder) {
  for (int64_t i = 0; i < config_.layers; ++i) {
    const std::string name = fmt::format("decoder.layers.{}.", i);
    const std::string self = name + "self_attention", cross = name + "cross_attention";
    Layer layer;
    if (recurs()) {
      layer.recurrence_input = Linear(weights, {name + "recurrence.input.weight"});
      layer.recurrence_forget = Linear(weights, {name + "recurrence.forget.weight"});
      layer.self_norm = Norm(weights, name + "recurrence_norm", config_);
    } else {
      layer.query_key_value =
          Linear(weights, {self + ".query.weight", self + ".key.weight", self + ".value.weight"});
      layer.output = Linear(weights, {self + ".output.weight"});
      layer.self_norm = Norm(weights, self + "_norm", config_);
    }
    if (cross_attention_) {
      layer.cross_query = Linear(weights, {cross + ".query.weight"});
      layer.cross_key_value = Linear(weights, {cross + ".key.weight", cross + ".value.weight"});
      layer.cross_output = Linear(weights, {cross + ".output.weight"});
      layer.cross_norm = Norm(weights, cross + "_norm", config_);
    }
    layer.feed_forward_norm = Norm(weights, name + "feed_forward_norm", config_);
    layer.feed_forward = FeedForward(weights, name + "feed_forward", config_);
    layers_.push_back(std::move(layer));
  }
  if (config_.norm_place == NormPlace::kPre) {
    norm_ = Norm(weights, "decoder.norm", config_);
  }
  if (recurs()) zeros_D_.resize(config_.d_model);
}

void Decoder::Reset(int64_t beam_size, DecoderCache* cache) const {
  cache->Reset(beam_size, config_.layers * own_floats(),
               memory_at() + (next_word_input_ ? config_.d_model : 0));
}

void Decoder::Start(std::span<const NewSource> sources, const float* memory_SD, Scratch* scratch,
                    DecoderCache* cache) const {
  for (const NewSource& source : sources) cache->Reorder(source.sentence, {});
  if (!cross_attention_) return;
  cache->new_rows.clear();
  for (const NewSource& source : sources) cache->Renew(source.sentence, source.count);
  const int64_t rows = std::ssize(cache->new_rows), width = sizes_.row_floats();
  float* projected = scratch->projected.Get(rows * width);
  for (int64_t i = 0; i < config_.layers; ++i) {
    layers_[i].cross_key_value.Apply(memory_SD, rows, &scratch->linear, projected);
    for (int64_t r = 0; r < rows; ++r) {
      std::copy_n(projected + r * width, width, cache->new_rows[r] + i * width);
    }
  }
  for (int64_t r = 0; r < rows && next_word_input_; ++r)
    std::copy_n(memory_SD + r * config_.d_model, config_.d_model, cache->new_rows[r] + memory_at());
}

void Decoder::Grow(std::span<const DecoderRow> rows, DecoderCache* cache) const {
  cache->positions.clear();
  cache->new_rows.clear();
  for (const DecoderRow& row : rows) {
    DecoderCache::RowList& own = cache->hypotheses[row.hypothesis];
    cache->positions.push_back(std::ssize(own.rows));
    cache->Append(&cache->own_rows, &own);
  }
}

void Decoder::SelfAttend(int64_t layer, std::span<const DecoderRow> rows, const float* x_RD,
                         DecoderCache* cache, Scratch* scratch, const Sinks& sinks) const {
  const Linear& product = layers_[layer].query_key_value;
  const int64_t stride = product.columns(), count = std::ssize(rows);
  const int64_t keys = sizes_.key_columns(), values = sizes_.value_columns();
  const int64_t at = layer * sizes_.row_floats();
  float* projected = scratch->projected.Get(count * stride);
  product.Apply(x_RD, count, &scratch->linear, projected);
  for (int64_t r = 0; r < count; ++r) {
    std::copy_n(projected + r * stride + keys, keys + values, cache->new_rows[r] + at);
  }
  float* context = scratch->context.Get(count * values);
  for (int64_t r = 0, queries; r < count; r += queries) {
    const auto list = [&](int64_t row) {
      return cache->hypotheses[rows[row].hypothesis].rows.data();
    };
    queries = CountAlike(count, r,
                         [&](int64_t next) { return rows[next].hypothesis == rows[r].hypothesis; });
    AttentionArguments arguments = sizes_.Arguments(projected + r * stride, stride, list(r), at);
    arguments.growth = 1;
    if (queries == 1 && config_.attention_window == 0) {  // a beam at one position
      queries = CountAlike(count, r, [&](int64_t next) {
        return cache->SentenceOf(rows[next].hypothesis) == cache->SentenceOf(rows[r].hypothesis) &&
               cache->positions[next] == cache->positions[r];
      });
      cache->lists.clear();
      for (int64_t q = 0; q < queries; ++q) cache->lists.push_back(list(r + q));
      arguments.growth = 0;
      arguments.lists = cache->lists.data();
    }
    arguments.queries = queries;
    arguments.count = cache->positions[r] + 1;
    arguments.output = context + r * values;
    cache->bias.Apply(cache->positions[r], &arguments);
    Attend(*kernels_, sinks.attention != nullptr, {config_.attention_window, cache->positions[r]},
           &arguments, scratch);
    const int64_t growth = arguments.growth,
                  most = sizes_.heads * (arguments.count + (queries - 1) * growth);
    for (int64_t q = 0; sinks.attention && q < queries; ++q) {
      sinks.attention(AttentionPlace::kDecoderSelf, layer, r + q, arguments.weights + q * most,
                      arguments.count + q * growth);
    }
  }
}

void Decoder::Recur(int64_t layer, std::span<const DecoderRow> rows, const float* x_RD,
                    DecoderCache* cache, Scratch* scratch) const {
  const Layer& weights = layers_[layer];
  const int64_t count = std::ssize(rows), width = config_.d_model, at = layer * width;
  float* input_RD = scratch->projected.Get(count * width);
  float* forget_RD = scratch->inner_RF.Get(count * width);
  float* output_RD = scratch->context.Get(count * width);
  weights.recurrence_input.Apply(x_RD, count, &scratch->linear, input_RD);
  weights.recurrence_forget.Apply(x_RD, count, &scratch->linear, forget_RD);
  for (int64_t r = 0; r < count; ++r) {
    const int64_t position = cache->positions[r];
    const std::vector<const float*>& own = cache->hypotheses[rows[r].hypothesis].rows;
    const float* before = position == 0 ? zeros_D_.data() : own[position - 1] + at;
    kernels_->recur(input_RD + r * width, forget_RD + r * width, before, width,
                    cache->new_rows[r] + at, output_RD + r * width);
  }
}

void Decoder::CrossAttend(int64_t layer, std::span<const DecoderRow> rows, const float* x_RD,
                          DecoderCache* cache, Scratch* scratch, const Sinks& sinks) const {
  const int64_t keys = sizes_.key_columns(), values = sizes_.value_columns();
  const int64_t at = layer * sizes_.row_floats();
  const int64_t count = std::ssize(rows);
  float* query = scratch->projected.Get(count * keys);
  layers_[layer].cross_query.Apply(x_RD, count, &scratch->linear, query);
  float* context = scratch->context.Get(count * values);
  for (int64_t r = 0, queries; r < count; r += queries) {
    const std::vector<const float*>& source = cache->SourceOf(rows[r].hypothesis).rows;
    const int64_t seen = std::ssize(source);
    queries = CountAlike(count, r, [&](int64_t next) {
      return cache->SentenceOf(rows[next].hypothesis) == cache->SentenceOf(rows[r].hypothesis);
    });
    AttentionArguments arguments = sizes_.Arguments(query + r * keys, keys, source.data(), at);
    arguments.queries = queries;
    cache->lists.assign(queries, source.data());
    if (queries <= AttentionSizes::kOneByOne) arguments.lists = cache->lists.data();
    arguments.count = seen;
    arguments.output = context + r * values;
    Attend(*kernels_, sinks.attention != nullptr, &arguments, scratch);
    for (int64_t q = 0; sinks.attention && q < queries; ++q) {
      sinks.attention(AttentionPlace::kCross, layer, r + q,
                      arguments.weights + q * sizes_.heads * seen, seen);
    }
  }
}

void Decoder::Run(std::span<const DecoderRow> rows, DecoderCache* cache, PositionTable* positions,
                  Scratch* scratch, const Sinks& sinks, Buffer* output_RD) const {
  float* x_RD = output_RD->Get(std::ssize(rows) * config_.d_model);
  while (!rows.empty()) {
    const size_t count = sinks.any() ? rows.size() : std::min<size_t>(rows.size(), kRowsTogether);
    RunLayers(rows.first(count), cache, positions, scratch, sinks, x_RD);
    rows = rows.subspan(count);
    x_RD += count * config_.d_model;
  }
}

void Decoder::RunLayers(std::span<const DecoderRow> rows, DecoderCache* cache,
                        PositionTable* positions, Scratch* scratch, const Sinks& sinks,
                        float* x_RD) const {
  Grow(rows, cache);
  cache->bias = positions->Bias(relative_bias_, std::ranges::max(cache->positions));
  const int64_t count = std::ssize(rows);
  for (int64_t r = 0; r < count; ++r) {
    float* const x_D = x_RD + r * config_.d_model;
    embedding_.Apply(rows[r].token, cache->positions[r], positions, x_D);
    if (!next_word_input_ || rows[r].source_row < 0) continue;
    const float* const added_D =
        cache->SourceOf(rows[r].hypothesis).rows[rows[r].source_row] + memory_at();
    for (int64_t d = 0; d < config_.d_model; ++d) x_D[d] += added_D[d];
  }
  if (sinks.activation) sinks.activation(false, -1, x_RD, count);
  scratch->timer.Book(&WorkSeconds::rest);
  for (int64_t i = 0; i < config_.layers; ++i) {
    const Layer& layer = layers_[i];
    const auto sublayer = [&](const Norm& norm, auto f) {
      ApplySublayer(config_.norm_place, norm, x_RD, count, scratch, f);
    };
    sublayer(layer.self_norm, [&](const float* input, const float* residual, float* y) {
      if (recurs()) {
        Recur(i, rows, input, cache, scratch);
        const float* output = scratch->context.Get(0);
        for (int64_t j = 0; j < count * config_.d_model; ++j) y[j] = output[j] + residual[j];
        return;
      }
      SelfAttend(i, rows, input, cache, scratch, sinks);
      layer.output.Apply(scratch->context.Get(0), count, &scratch->linear, y,
                         MatmulActivation::kNone, residual);
    });
    scratch->timer.Book(&WorkSeconds::self_attention);
    if (cross_attention_) {
      sublayer(layer.cross_norm, [&](const float* input, const float* residual, float* y) {
        CrossAttend(i, rows, input, cache, scratch, sinks);
        layer.cross_output.Apply(scratch->context.Get(0), count, &scratch->linear, y,
                                 MatmulActivation::kNone, residual);
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
