// What a layer costs: the measured columns of the paper's Table 1. Torch's headers are not needed.
#ifndef ATTEND_NN_MEASURE_LAYER_COST_H_
#define ATTEND_NN_MEASURE_LAYER_COST_H_

#include <cstdint>
#include <functional>

namespace attend::nn {

enum class LayerKind {
  kAttention,             // softmax(Q K^T / sqrt(d_k)) V of given queries, keys and values
  kWindowedAttention,     // the same, restricted to a neighbourhood
  kMultiHeadAttention,    // with the projections of queries, keys, values and outputs
  kLstm,                  // one layer, forward
  kConvolution,           // with its gated linear units
  kSeparableConvolution,  // each column by itself, then one product with a matrix
  kDilatedConvolution,    // each layer of a stack reads kernel_width times as far as the one below
};

struct LayerShape {
  LayerKind kind = LayerKind::kAttention;
  int64_t width = 64;        // d: of the output, and of the input but for given projections
  int64_t head_width = 64;   // heads: width / head_width, at least 1
  int64_t window = 16;       // r: keys at most so far from the query
  int64_t kernel_width = 3;  // k
};

struct LayerCost {
  double forward_s = 0, backward_s = 0;  // means of all runs but the first
  int64_t kept_bytes = 0;  // of tensors that the forward pass leaves for the backward one, and its
                           // output
  int64_t peak_bytes = 0;  // of tensors, the most at once; gradients of weights among them
  int64_t runs = 0;
};

// One sequence of `length` forward and backward, again and again for `seconds` of the clock `now`,
// twice at least.
LayerCost MeasureLayer(const LayerShape& shape, int64_t length, double seconds,
                       const std::function<double()>& now);

// The longest chain of operations that wait for each other, in the graph that autograd records of
// the plain version of the layer.
int64_t SequentialOperations(const LayerShape& shape, int64_t length);

// How many layers, or steps of a recurrence, a gradient passes from the last position to the first.
int64_t PathLength(const LayerShape& shape, int64_t length);

}  // namespace attend::nn

#endif  // ATTEND_NN_MEASURE_LAYER_COST_H_
