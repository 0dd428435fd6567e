// The parts that encoder and decoder layers are made of, over packed rows [R, D] without padding.
//
// Weights are immutable and shared; a Scratch belongs to one thread and keeps its memory between
// calls.
#ifndef ATTEND_ENGINE_BLOCKS_LAYER_H_
#define ATTEND_ENGINE_BLOCKS_LAYER_H_

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attend/model_config.h"
#include "engine/blocks/linear.h"
#include "engine/blocks/work_timer.h"

namespace attend {

// Memory that grows and is never given back.
class Buffer {
 public:
  float* Get(int64_t count) {
    if (static_cast<int64_t>(floats_.size()) < count) floats_.resize(count);
    return floats_.data();
  }

 private:
  AlignedVector<float> floats_;
};

struct Scratch {
  Buffer normal_RD, projected, context, inner_RF, gate_RF, weights, near_weights, attention;
  Buffer part_RD;  // of an encoder below a joint one
  std::vector<const float*> key_rows;
  std::vector<int64_t> lengths;  // rows of each item that an encoder reads
  LinearScratch linear;
  WorkTimer timer;
};

// Layer norm, or RMS norm, which has no bias.
struct Norm {
  const KernelTable* kernels = nullptr;
  NormKind kind = NormKind::kLayerNorm;
  std::vector<float> gain_D, bias_D;
  float epsilon = 0;

  Norm() = default;
  // The tensors `name`.weight and, of a layer norm, `name`.bias.
  Norm(const WeightSource& weights, const std::string& name, const StackConfig& config);
  void Apply(const float* x_RD, int64_t rows, float* y_RD) const;
};

// Puts the mean of each text's rows in place of them, one after another from the front.
void MeanRows(std::span<const int64_t> lengths, int64_t width, float* x_RD);
// Makes the vector's length 1; one of zeros stays.
void MakeUnit(std::span<float> vector);

// The function of a feed-forward layer; of a gated one, its gate's.
MatmulActivation MatmulActivationOf(Activation activation);

// Section 3.3, with the activation the configuration names.
struct FeedForward {
  const KernelTable* kernels = nullptr;
  Activation activation = Activation::kRelu;
  Linear inner, gate, outer;

  FeedForward() = default;
  FeedForward(const WeightSource& weights, const std::string& name, const StackConfig& config);
  // y = outer(activation(inner(x))) + residual, gated: outer(activation(gate(x)) * inner(x))
  void Apply(const float* x_RD, int64_t rows, const float* residual_RD, float* y_RD,
             Scratch* scratch) const;
};

// Shape of one multi-head attention, section 3.2.2.
struct AttentionSizes {
  int64_t heads = 0, d_k = 0, d_v = 0;

  explicit AttentionSizes(const StackConfig& config)
      : heads(config.heads), d_k(config.key_width()), d_v(config.value_width()) {}
  AttentionSizes() = default;
  int64_t key_columns() const { return heads * d_k; }
  int64_t value_columns() const { return heads * d_v; }
  // Keys and values of one position side by side.
  int64_t row_floats() const { return key_columns() + value_columns(); }
  // Of the dot products, section 3.2.1.
  float scale() const { return 1 / std::sqrt(static_cast<float>(d_k)); }

  // Queries of a text that attend together at most: what it takes to pack the keys of a head is
  // then little beside the products.
  static constexpr int64_t kTogether = 128;
  // For up to so many that see the same rows, the keys are read where they lie.
  static constexpr int64_t kOneByOne = 8;
  // Query rows of `query` [queries, stride] over rows that have keys at `keys` and values behind
  // them; the output is to be filled in.
  AttentionArguments Arguments(const float* query, int64_t stride, const float* const* rows,
                               int64_t keys) const {
    return {.query = query,
            .query_stride = stride,
            .queries = 1,
            .rows = rows,
            .keys = keys,
            .values = keys + key_columns(),
            .heads = heads,
            .d_k = d_k,
            .d_v = d_v,
            .scale = scale(),
            .output_stride = value_columns()};
  }
};

// Fills in weights and scratch, and runs. Weights of several queries without lists are kept where
// `keep` asks.
inline void Attend(const KernelTable& kernels, bool keep, AttentionArguments* arguments,
                   Scratch* scratch) {
  AttentionArguments& a = *arguments;
  const int64_t rows = a.count + (a.queries - 1) * a.growth;
  const bool one_by_one = a.queries == 1 || a.lists != nullptr;
  a.weights = keep || one_by_one ? scratch->weights.Get(a.queries * a.heads * rows) : nullptr;
  if (!one_by_one) a.scratch = scratch->attention.Get(AttentionScratch(a));
  kernels.attention(a);
}

// The same for self-attention, in which a query sees rows at most `window` from its own, of those
// that the arguments let it see; 0: all of them. The first query's row is at `position`. Weights
// that are kept are 0 for the others.
struct AttentionWindow {
  int64_t window = 0;
  int64_t position = 0;
};
void Attend(const KernelTable& kernels, bool keep, const AttentionWindow& window,
            AttentionArguments* arguments, Scratch* scratch);

// What distances add to the scores of a stack's self-attention: for each head and each bucket of
// distances a number. Empty for other positions than relative ones.
struct RelativeBias {
  std::vector<float> table;  // [buckets, heads]
  StackConfig config;
  bool both_ways = false;

  RelativeBias() = default;
  // The tensor `stack`.relative_bias.weight, if there is one.
  RelativeBias(const WeightSource& weights, const std::string& stack, const StackConfig& config);
};

// The same by distance: what head h adds to the score of a key that stands so far after its query
// is at[h * stride + distance]. Null: nothing.
struct ScoreBias {
  const float* at = nullptr;
  int64_t stride = 0;

  // For queries of which the first stands at `position`, and rows from position 0 on.
  void Apply(int64_t position, AttentionArguments* arguments) const {
    if (at == nullptr) return;
    arguments->bias = at - position;
    arguments->bias_stride = stride;
  }
};

// Token embeddings plus positions, section 3.4 and 3.5. Makes rows of the position table, and
// biases of distances, as they are asked for; one owner.
class PositionTable {
 public:
  // Row `position` (from 0, the offset not yet added), or null for a stack that adds none.
  // Throws Error(kInput) past the end of a learned table.
  const float* Row(const StackConfig& config, const TensorView* learned, int64_t position);
  // For distances up to `furthest`; good until the next call.
  ScoreBias Bias(const RelativeBias& bias, int64_t furthest);

 private:
  std::vector<float> rows_;
  int64_t count_ = 0;
  std::vector<float> biases_;  // [heads, 2 * reach_ + 1], for distances -reach_ to reach_
  int64_t reach_ = -1;
};

struct Embedding {
  const KernelTable* kernels = nullptr;
  const TensorView* table_VD = nullptr;  // f32, or int8 with `scales`; belongs to the model
  const float* scales_V = nullptr;
  const TensorView* learned = nullptr;  // positions; null for others
  StackConfig config;
  std::optional<Norm> norm;  // of the sum

  Embedding() = default;
  // The table `name`, and the positions of `stack`.
  Embedding(const WeightSource& weights, const std::string& name, const std::string& stack,
            const StackConfig& stack_config);
  void Apply(int32_t token, int64_t position, PositionTable* positions, float* y_D) const;
};

// How one sublayer stands in the residual stream. Post-norm: x = norm(x + f(x)); pre-norm:
// x = x + f(norm(x)). `f` is called as f(input, residual, output).
template <class Sublayer>
void ApplySublayer(NormPlace place, const Norm& norm, float* x_RD, int64_t rows, Scratch* scratch,
                   Sublayer f) {
  const int64_t width = static_cast<int64_t>(norm.gain_D.size());
  if (place == NormPlace::kPre) {
    float* normal_RD = scratch->normal_RD.Get(rows * width);
    norm.Apply(x_RD, rows, normal_RD);
    f(normal_RD, x_RD, x_RD);
  } else {
    f(x_RD, x_RD, x_RD);
    norm.Apply(x_RD, rows, x_RD);
  }
}

}  // namespace attend

#endif  // ATTEND_ENGINE_BLOCKS_LAYER_H_
