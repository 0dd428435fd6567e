// A product with packed weights and its bias: y = activation(x w^T + bias) + residual.
//
// Weights are f32 or int8, as the model stores them; int8 ones multiply activations that are
// quantised row by row as they come. Immutable once made; safe to use from many threads. Several
// weights that read the same x stand side by side in one Linear, their columns one after another.
#ifndef ATTEND_ENGINE_BLOCKS_LINEAR_H_
#define ATTEND_ENGINE_BLOCKS_LINEAR_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/team.h"
#include "engine/blocks/packed_matrices.h"
#include "kernels/inference/kernels.h"
#include "model/tensor_table.h"

namespace attend {

// What a thread lends to products.
struct LinearScratch {
  AlignedVector<std::byte> quantized;  // rows that an int8 product reads
  std::vector<float> scales;
  Team* team = nullptr;  // shares the columns of large products, which changes no bit of them
};

// What a part of the model is made from: its tensors, and where they go packed for `kernels`.
struct WeightSource {
  const KernelTable& kernels;
  const TensorTable& tensors;
  PackedMatrices* packed;
  // Of a model with an adapter: matrices that stand here in place of `tensors` and go once they are
  // packed, and what its base has packed. Null for others.
  const TensorTable* adapted = nullptr;
  const PackedMatrices* of_base = nullptr;

  // A matrix, or the scales of one.
  const TensorView& Matrix(const std::string& name) const {
    const TensorView* found = adapted == nullptr ? nullptr : adapted->Find(name);
    return found == nullptr ? tensors.Get(name) : *found;
  }
};

class Linear {
 public:
  // Rows as a product reads them; points into x or into the scratch that was lent.
  struct Input {
    const float* x = nullptr;
    const void* quantized = nullptr;
    const float* scales = nullptr;
    int64_t rows = 0;
    int64_t inner = 0, quantized_size = 0;  // of a row: floats of x, bytes of quantized

    Input Some(int64_t first, int64_t count) const {
      return {x + first * inner,
              static_cast<const std::byte*>(quantized) + first * quantized_size,
              scales == nullptr ? nullptr : scales + first,
              count,
              inner,
              quantized_size};
    }
  };

  Linear() = default;
  // `names` are of [out, in] tensors, all of one type; each has a bias of the name with `.bias` for
  // `.weight`, or none has; `bias` names another one. Throws Error(kInput) for a tensor that is
  // missing or of another type.
  Linear(const WeightSource& weights, const std::vector<std::string>& names,
         const std::string& bias = "");

  // Some columns of a single weight, which is `stored` so, in the order given; reads the same
  // Input.
  Linear Select(std::span<const int32_t> columns, const TensorView& stored,
                PackedMemory* memory) const;

  int64_t columns() const { return columns_; }

  // x [rows, inner], y and residual [rows, columns], dense; residual may be null or y.
  void Apply(const float* x, int64_t rows, LinearScratch* scratch, float* y,
             MatmulActivation activation = MatmulActivation::kNone,
             const float* residual = nullptr) const;

  // The same in two parts: x is read once, then columns [first, last) at a time are made, y [rows,
  // last - first]; first is a multiple of 256.
  Input Read(const float* x, int64_t rows, LinearScratch* scratch) const;
  void ApplyColumns(const Input& input, int64_t first, int64_t last, LinearScratch* scratch,
                    float* y) const;

 private:
  size_t PackedBytes(int64_t columns) const;
  // w [columns, inner], as stored.
  void PackColumns(const std::byte* w, int64_t columns, std::byte* packed) const;
  void Multiply(const Input& input, const MatmulOutput& output) const;
  void Share(const Input& input, const MatmulOutput& output, Team* team) const;

  const KernelTable* kernels_ = nullptr;
  int64_t columns_ = 0;
  int64_t inner_ = 0;
  const std::byte* packed_ = nullptr;
  std::vector<float> scales_;  // by column; empty: f32
  std::vector<float> bias_;    // empty: none
};

}  // namespace attend

#endif  // ATTEND_ENGINE_BLOCKS_LINEAR_H_
