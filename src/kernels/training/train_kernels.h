// The arithmetic of training on CPUs: one table of functions for each instruction set and type of
// number.
//
// As the engine's kernels (kernels/inference/kernels.h): noexcept, without allocation or state,
// safe on many threads at once; a row's results do not depend on the other rows, but for gradients
// of weights, which add rows in their order. Included by files compiled for one instruction set and
// must therefore define nothing that emits code.
#ifndef ATTEND_KERNELS_TRAINING_TRAIN_KERNELS_H_
#define ATTEND_KERNELS_TRAINING_TRAIN_KERNELS_H_

#include <stdint.h>

#include "attend/nn/dropout.h"
#include "kernels/vectors/bf16_pair.h"

namespace attend::nn {

// sum = x + dropout(sublayer); y = layer_norm(sum).
template <class Real>
struct ResidualNormArguments {
  int64_t rows, width;
  int64_t first_row;     // of these rows within the tensor that `dropout` counts
  const Real* x;         // [rows, width], or null for none
  const Real* sublayer;  // [rows, width]
  DropoutSite dropout;
  Real* sum;         // [rows, width], out
  const Real* gain;  // [width], or null for no norm
  const Real* bias;
  double epsilon;
  Real* moments;  // [rows, 2], out where there is a norm: mean, 1 / deviation
  Real* y;        // [rows, width], out where there is a norm
};

// The gradients of ResidualNormArguments with a norm.
template <class Real>
struct ResidualNormGradients {
  int64_t rows, width;
  int64_t first_row;
  const Real* y_gradient;  // [rows, width]
  const Real* sum;         // [rows, width]; what was normalised
  const Real* moments;     // [rows, 2]
  const Real* gain;        // [width]
  DropoutSite dropout;
  Real* sum_gradient;       // [rows, width], out; x's too
  Real* sublayer_gradient;  // [rows, width], out, or null where it is the sum's
  Real* gain_gradient;      // [width], added to
  Real* bias_gradient;      // [width], added to
};

// All heads of one sentence, or of some neighbouring queries and all keys that they see: T queries
// over S keys. Row i of a tensor is at i times its stride.
template <class Real>
struct AttentionArguments {
  int64_t queries, keys;  // T, S
  int64_t heads, key_width, value_width;
  int64_t first_query;  // where among the keys query 0 stands
  bool causal;          // a query at place t sees keys 0 to t
  int64_t window;       // 0, or it sees keys t - window to t + window, if it would see them
  double scale;
  const Real *query, *key, *value;
  int64_t query_stride, key_stride;  // the values' is the keys'
  // Added to scaled scores: for head h, query t and key s bias[h * bias_stride + d], where d is the
  // distance s - first_query - t. Null: nothing.
  const Real* bias;
  int64_t bias_stride;
  // Of the weights; a row is a query's, a column head * S + key, or with a window head * (2 window
  // + 1) + key - t + window.
  DropoutSite dropout;
  int64_t first_row;  // of query 0 within the tensor
  Real* weights;      // [heads, T, attention_columns(S)], out; before dropout
  Real* output;       // [T, heads * value_width]
  Real* scratch;      // attention_scratch(arguments) numbers
};

// `forward.output` is not used.
template <class Real>
struct AttentionGradients {
  AttentionArguments<Real> forward;
  const Real* output_gradient;                           // [T, heads * value_width]
  Real *query_gradient, *key_gradient, *value_gradient;  // with the strides of query and key; out
  bool add;             // to the gradients of keys and values, which other queries see too
  Real* bias_gradient;  // laid out as the bias, added to; null without one
};

// Of label-smoothed cross-entropy: -target_weight * log p_target - class_weight * sum_v log p_v.
template <class Real>
struct CrossEntropyArguments {
  int64_t rows, classes;
  Real* logits;      // [rows, classes]; becomes the gradient by the logits where with_gradient
  const Real* bias;  // [classes] to be added to the logits, or null
  const int64_t* targets;
  double target_weight, class_weight;
  bool with_gradient;
  double loss, nll;     // out
  Real* bias_gradient;  // [classes], added to, or null
};

// Of two passes over the same rows, side by side: the mean of both cross-entropies plus
// divergence_weight * (KL(p1 || p2) + KL(p2 || p1)), always with its gradient.
template <class Real>
struct TwoPassArguments {
  CrossEntropyArguments<Real> loss;  // rows targets; logits and their gradient [rows, 2, classes]
  double divergence_weight;
  Real* scratch;  // [classes]
};

// y = dropout(table[id] * scale + positions[place]); a negative id has a row of zeros.
template <class Real>
struct EmbeddingArguments {
  int64_t rows, width;
  const int64_t* ids;
  const int64_t* places;
  const Real* table;
  const Real* positions;  // or null
  double scale;
  DropoutSite dropout;
  Real* y;
};

// Adds to both gradients, row by row in their order.
template <class Real>
struct EmbeddingGradients {
  EmbeddingArguments<Real> forward;
  const Real* y_gradient;
  Real* table_gradient;
  Real* positions_gradient;  // or null
};

// c = a * b + bias, or with `add` c += a * b. b is packed into panels of panel_columns columns, one
// after the other, each [inner, panel_columns] and filled up with zeros.
template <class Real, class Element>
struct ProductArguments {
  int64_t rows, inner, columns;
  const Element* a;  // element (r, k) is at a[r * a_row + k * a_column]
  int64_t a_row, a_column;
  const Element* packed;
  const Real* bias;  // [columns], or null; null with `add`
  bool add;
  Real* c;  // row r is at c + r * c_stride
  int64_t c_stride;
};

template <class Real>
struct TrainKernels {
  const char* name;
  void (*keep_mask)(const DropoutSite& site, int64_t row, int64_t width, Real* mask) noexcept;
  void (*residual_norm)(const ResidualNormArguments<Real>& arguments) noexcept;
  void (*residual_norm_backward)(const ResidualNormGradients<Real>& gradients) noexcept;
  int64_t (*attention_columns)(int64_t keys) noexcept;
  int64_t (*attention_scratch)(const AttentionArguments<Real>& arguments) noexcept;
  void (*attention)(const AttentionArguments<Real>& arguments) noexcept;
  void (*attention_backward)(const AttentionGradients<Real>& gradients) noexcept;
  void (*cross_entropy)(CrossEntropyArguments<Real>* arguments) noexcept;
  void (*two_pass_cross_entropy)(TwoPassArguments<Real>* arguments) noexcept;
  void (*embed)(const EmbeddingArguments<Real>& arguments) noexcept;
  void (*embed_backward)(const EmbeddingGradients<Real>& gradients) noexcept;
  // Sets without vectors have no products, since LibTorch's are faster than plain C++; f64 has
  // some, but none in bf16.
  int64_t panel_columns;
  void (*product)(const ProductArguments<Real, Real>& arguments) noexcept;
  // Rounds `count` numbers to (count + 1) / 2 pairs of neighbours, the last one's odd 0 if need be.
  void (*pair_columns)(const Real* x, int64_t count, Bf16Pair* pairs) noexcept;
  // Rounds two rows of `count` numbers to as many pairs; `odd` null is zeros.
  void (*pair_rows)(const Real* even, const Real* odd, int64_t count, Bf16Pair* pairs) noexcept;
  void (*bf16_product)(const ProductArguments<Real, Bf16Pair>& arguments) noexcept;
  bool bf16_instructions;  // the set has some for these products; others convert every number
};

// `Plain` runs everywhere; call the others only where the machine has the instructions.
const TrainKernels<float>* PlainTrainKernels() noexcept;
const TrainKernels<double>* PlainTrainKernelsF64() noexcept;
const TrainKernels<float>* Avx2TrainKernels() noexcept;
const TrainKernels<float>* Avx512TrainKernels() noexcept;
const TrainKernels<float>* Avx512Bf16TrainKernels() noexcept;
const TrainKernels<float>* Avx512AmxTrainKernels() noexcept;

}  // namespace attend::nn

#endif  // ATTEND_KERNELS_TRAINING_TRAIN_KERNELS_H_
