// A product with packed weights and its bias: y = activation(x w^T + bias) + residual.
//
// Immutable once made; safe to use from many threads. Several weights that read the same x stand
// side by side in one Linear, their columns one after another.
#ifndef ATTEND_ENGINE_BLOCKS_LINEAR_H_
#define ATTEND_ENGINE_BLOCKS_LINEAR_H_

#include <string>
#include <vector>

#include "engine/kernels/kernels.h"
#include "model/tensor_table.h"

namespace attend {

class Linear {
 public:
  Linear() = default;
  // `weights` are names of [out, in] tensors; each has a bias of the name with `.bias` for
  // `.weight`, or none has; `bias` names another one. Throws Error(kInput) for a tensor that is
  // missing or not f32.
  Linear(const KernelTable& kernels, const TensorTable& tensors,
         const std::vector<std::string>& weights, const std::string& bias = "");

  int64_t columns() const { return columns_; }
  int64_t inner() const { return inner_; }

  // x [rows, inner], y and residual [rows, columns], dense; residual may be null or y.
  void Apply(const float* x, int64_t rows, float* y,
             MatmulActivation activation = MatmulActivation::kNone,
             const float* residual = nullptr) const;
  // Columns [first, last) alone, y [rows, last - first]; first is a multiple of 256.
  void ApplyColumns(const float* x, int64_t rows, int64_t first, int64_t last, float* y) const;

 private:
  const KernelTable* kernels_ = nullptr;
  int64_t columns_ = 0;
  int64_t inner_ = 0;
  std::vector<float> packed_;
  std::vector<float> bias_;  // empty: none
};

}  // namespace attend

#endif  // ATTEND_ENGINE_BLOCKS_LINEAR_H_
