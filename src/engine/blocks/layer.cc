#include "engine/blocks/layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attend/error.h"
#include "model/relative_buckets.h"

namespace attend {

Norm::Norm(const WeightSource& weights, const std::string& name, const StackConfig& config)
    : kernels(&weights.kernels),
      kind(config.norm),
      epsilon(static_cast<float>(config.norm_epsilon)) {
  const float* gain = weights.tensors.Get(name + ".weight").f32();
  gain_D.assign(gain, gain + config.d_model);
  if (kind == NormKind::kRmsNorm) return;
  const float* bias = weights.tensors.Get(name + ".bias").f32();
  bias_D.assign(bias, bias + config.d_model);
}

void Norm::Apply(const float* x_RD, int64_t rows, float* y_RD) const {
  const auto function = kind == NormKind::kRmsNorm ? kernels->rms_norm : kernels->layer_norm;
  function({x_RD, rows, static_cast<int64_t>(gain_D.size()), gain_D.data(), bias_D.data(), epsilon,
            y_RD});
}

void MeanRows(std::span<const int64_t> lengths, int64_t width, float* x_RD) {
  const float* from = x_RD;
  for (float* mean_D = x_RD; const int64_t rows : lengths) {
    if (mean_D != from) std::copy_n(from, width, mean_D);
    for (int64_t d = 0; d < width && rows > 1; ++d) {
      for (int64_t r = 1; r < rows; ++r) mean_D[d] += from[r * width + d];
      mean_D[d] /= static_cast<float>(rows);
    }
    from += rows * width;
    mean_D += width;
  }
}

void MakeUnit(std::span<float> vector) {
  double squares = 0;
  for (const float x : vector) squares += static_cast<double>(x) * x;
  const double length = std::max(std::sqrt(squares), 1e-12);
  for (float& x : vector) x = static_cast<float>(x / length);
}

MatmulActivation MatmulActivationOf(Activation activation) {
  switch (activation) {
    case Activation::kRelu:
      return MatmulActivation::kRelu;
    case Activation::kGelu:
      return MatmulActivation::kGelu;
    case Activation::kGeluTanh:
    case Activation::kGeGluTanh:
      return MatmulActivation::kGeluTanh;
    default:
      return MatmulActivation::kSilu;
  }
}

FeedForward::FeedForward(const WeightSource& weights, const std::string& name,
                         const StackConfig& config)
    : kernels(&weights.kernels),
      activation(config.activation),
      inner(weights, {name + ".inner.weight"}),
      outer(weights, {name + ".outer.weight"}) {
  if (IsGated(activation)) gate = Linear(weights, {name + ".gate.weight"});
}

void FeedForward::Apply(const float* x_RD, int64_t rows, const float* residual_RD, float* y_RD,
                        Scratch* scratch) const {
  float* inner_RF = scratch->inner_RF.Get(rows * inner.columns());
  const MatmulActivation function = MatmulActivationOf(activation);
  if (IsGated(activation)) {
    float* gate_RF = scratch->gate_RF.Get(rows * gate.columns());
    gate.Apply(x_RD, rows, &scratch->linear, gate_RF, function);
    inner.Apply(x_RD, rows, &scratch->linear, inner_RF);
    kernels->multiply(gate_RF, inner_RF, rows * inner.columns());
  } else {
    inner.Apply(x_RD, rows, &scratch->linear, inner_RF, function);
  }
  outer.Apply(inner_RF, rows, &scratch->linear, y_RD, MatmulActivation::kNone, residual_RD);
}

const float* PositionTable::Row(const StackConfig& config, const TensorView* learned,
                                int64_t position) {
  const int64_t width = config.d_model, at = position + config.position_offset;
  if (config.positions == PositionKind::kNone || config.positions == PositionKind::kRelative)
    return nullptr;
  if (config.positions == PositionKind::kLearned) {
    if (at < config.max_positions) return learned->f32() + at * width;
    throw Error(ErrorKind::kInput,
                fmt::format("position {} is past the model's {} learned positions", at,
                            config.max_positions));
  }
  const SinusoidConvention convention = config.position_convention;
  const bool halves = convention != SinusoidConvention::kInterleaved;
  const int64_t half = (width + 1) / 2;
  const double exponents =
      static_cast<double>(width) / 2 - (convention == SinusoidConvention::kTimingSignal ? 1 : 0);
  for (; count_ <= position; ++count_) {
    for (int64_t column = 0; column < width; ++column) {
      const int64_t pair = halves ? column % half : column / 2;
      const bool cosine = halves ? column >= half : column % 2 == 1;
      const double angle = static_cast<double>(count_ + config.position_offset) *
                           std::pow(10000.0, -static_cast<double>(pair) / exponents);
      rows_.push_back(static_cast<float>(cosine ? std::cos(angle) : std::sin(angle)));
    }
  }
  return rows_.data() + position * width;
}

namespace {

// Query q alone, over the rows that it sees of those from row `first` on.
AttentionArguments OneQuery(const AttentionArguments& all, int64_t q, int64_t first,
                            int64_t count) {
  AttentionArguments one = all;
  one.queries = 1;
  one.growth = 0;
  one.query += q * all.query_stride;
  one.output += q * all.output_stride;
  one.rows += first;
  one.count = count;
  if (all.bias != nullptr) one.bias += first - q;
  return one;
}

}  // namespace

void Attend(const KernelTable& kernels, bool keep, const AttentionWindow& window,
            AttentionArguments* arguments, Scratch* scratch) {
  AttentionArguments& a = *arguments;
  const int64_t most = a.count + (a.queries - 1) * a.growth;
  if (window.window == 0 || window.window >= most - 1) {
    Attend(kernels, keep, arguments, scratch);
    return;
  }
  a.weights = keep ? scratch->weights.Get(a.queries * a.heads * most) : nullptr;
  float* const near_HS = scratch->near_weights.Get(a.heads * most);
  for (int64_t q = 0; q < a.queries; ++q) {
    const int64_t seen = a.count + q * a.growth, own = window.position + q;
    const int64_t first = std::max<int64_t>(0, own - window.window);
    const int64_t count = std::min(seen, own + window.window + 1) - first;
    AttentionArguments one = OneQuery(a, q, first, count);
    one.weights = near_HS;
    kernels.attention(one);
    for (int64_t h = 0; keep && h < a.heads; ++h) {
      float* const weights_S = a.weights + q * a.heads * most + h * seen;
      std::fill_n(weights_S, seen, 0.0f);
      std::copy_n(near_HS + h * count, count, weights_S + first);
    }
  }
}

RelativeBias::RelativeBias(const WeightSource& weights, const std::string& stack,
                           const StackConfig& stack_config)
    : config(stack_config), both_ways(stack == "encoder") {
  if (config.positions != PositionKind::kRelative) return;
  const TensorView& stored = weights.tensors.Get(stack + ".relative_bias.weight");
  table.assign(stored.f32(), stored.f32() + stored.elements());
}

ScoreBias PositionTable::Bias(const RelativeBias& bias, int64_t furthest) {
  constexpr int64_t kShortest = 128;
  if (bias.table.empty()) return {};
  const int64_t heads = bias.config.heads;
  if (furthest > reach_) {
    reach_ = std::max({furthest, 2 * reach_, kShortest});
    biases_.resize(heads * (2 * reach_ + 1));
    const RelativeBuckets buckets(bias.config, bias.both_ways);
    for (int64_t distance = -reach_; distance <= reach_; ++distance) {
      const float* of_bucket = bias.table.data() + buckets.Of(distance) * heads;
      for (int64_t h = 0; h < heads; ++h)
        biases_[h * (2 * reach_ + 1) + reach_ + distance] = of_bucket[h];
    }
  }
  return {biases_.data() + reach_, 2 * reach_ + 1};
}

Embedding::Embedding(const WeightSource& weights, const std::string& name, const std::string& stack,
                     const StackConfig& stack_config)
    : kernels(&weights.kernels),
      table_VD(&weights.tensors.Get(name)),
      scales_V(table_VD->type == TensorType::kI8 ? weights.tensors.Get(name + "_scale").f32()
                                                 : nullptr),
      learned(weights.tensors.Find(stack + ".positions.weight")),
      config(stack_config) {
  if (config.embedding_norm) norm.emplace(weights, stack + ".embedding_norm", config);
}

void Embedding::Apply(int32_t token, int64_t position, PositionTable* positions, float* y_D) const {
  const float scale = config.scale_embedding
                          ? static_cast<float>(std::sqrt(static_cast<double>(config.d_model)))
                          : 1.0f;
  const float* position_D = positions->Row(config, learned, position);
  const int64_t at = token * config.d_model;
  if (token == kZeroVector) {
    std::fill_n(y_D, config.d_model, 0.0f);
    if (position_D != nullptr) std::copy_n(position_D, config.d_model, y_D);
  } else if (scales_V == nullptr) {
    kernels->embed(table_VD->f32() + at, scale, position_D, config.d_model, y_D);
  } else {
    kernels->embed_int8(table_VD->i8() + at, scale * scales_V[token], position_D, config.d_model,
                        y_D);
  }
  if (norm) norm->Apply(y_D, 1, y_D);
}

}  // namespace attend
