// Which matrices get a low-rank adapter, and of which size. Plain C++: options name it too.
#ifndef ATTEND_NN_ADAPTER_SHAPE_H_
#define ATTEND_NN_ADAPTER_SHAPE_H_

#include <cstdint>

namespace attend::nn {

enum class AdaptedMatrices {
  kQueryValue,  // of all attentions: W^Q and W^V, as in most of the paper's experiments
  kAll,         // of the stacks' layers
};

// Hu et al. 2021, section 4.1: W + (alpha / rank) B A.
struct AdapterShape {
  int64_t rank = 0;  // 0: no adapter
  double alpha = 16;
  AdaptedMatrices matrices = AdaptedMatrices::kQueryValue;

  bool any() const { return rank > 0; }
  double scale() const { return alpha / static_cast<double>(rank); }
};

}  // namespace attend::nn

#endif  // ATTEND_NN_ADAPTER_SHAPE_H_
