// The arithmetic of the engine: one table of functions for each instruction set.
//
// All functions are noexcept, allocate nothing, hold no state and may run on many threads at once.
// Each output element is computed in one order of operations that depends on its own row alone: not
// on how many rows there are nor on where a row stands. Tails go through the same vector functions
// as whole vectors. This header is included by files compiled for one instruction set and must
// therefore define nothing that emits code.
#ifndef ATTEND_ENGINE_KERNELS_KERNELS_H_
#define ATTEND_ENGINE_KERNELS_KERNELS_H_

#include <stdint.h>

namespace attend {

enum class MatmulActivation { kNone, kRelu, kGelu };

// y[r, c] = activation(sum over k of x[r, k] * w[c, k], in the order of k, + bias[c]) + residual[r,
// c]
struct MatmulArguments {
  const float* x;  // [rows, inner]
  int64_t x_stride;
  int64_t rows;
  const float* packed;  // what pack_f32 made of all of w
  int64_t inner;
  int64_t first_column;   // a multiple of panel_columns
  int64_t last_column;    // one past; columns are output features
  const float* bias;      // by column, or null
  const float* residual;  // [rows, columns] with y's stride, or null; may be y
  float* y;               // y[0] is (row 0, column first_column)
  int64_t y_stride;
  MatmulActivation activation;
};

struct LayerNormArguments {
  const float* x;  // [rows, width]
  int64_t rows;
  int64_t width;
  const float* gain;
  const float* bias;
  float epsilon;
  float* y;  // [rows, width]; may be x
};

// One query row over the keys and values of one sentence; all heads.
struct AttentionArguments {
  const float* query;  // [heads * d_k], already scaled by nobody: `scale` does it
  const float* keys;   // row j begins at keys + row(j) * key_stride, holds [heads * d_k]
  int64_t key_stride;
  const float* values;  // [heads * d_v]
  int64_t value_stride;
  const int32_t* rows;  // row(j) for j in [0, count); null: row(j) = j
  int64_t count;
  int64_t heads;
  int64_t d_k;
  int64_t d_v;
  float scale;
  float* weights;  // [heads, count], out
  float* output;   // [heads * d_v], out
};

// The best entries of a row seen so far and its log-sum-exp, filled block by block.
struct TopK {
  float* values;  // [k], falling; equal values by rising id
  int32_t* ids;   // [k]
  int64_t k;
  int64_t count;  // entries filled
  float max;      // of all entries seen, forbidden ones too
  float sum;      // of exp(entry - max)
};

struct KernelTable {
  const char* name;
  int64_t panel_columns;  // columns that are packed together

  // Floats that pack_f32 writes.
  int64_t (*packed_size_f32)(int64_t columns, int64_t inner) noexcept;
  // Packs rows of w [columns, inner]; those past `columns` in the last panel become 0. Packs made
  // of parts that start at a multiple of panel_columns may follow each other.
  void (*pack_f32)(const float* w, int64_t columns, int64_t inner, float* packed) noexcept;
  void (*matmul_f32)(const MatmulArguments& arguments) noexcept;

  // y = (x - mean) / sqrt(variance + epsilon) * gain + bias, row by row; y may be x.
  void (*layer_norm)(const LayerNormArguments& arguments) noexcept;
  // y = embedding * scale + position; position may be null.
  void (*embed)(const float* embedding, float scale, const float* position, int64_t width,
                float* y) noexcept;
  // inner = silu(gate) * inner
  void (*swiglu)(const float* gate, float* inner, int64_t count) noexcept;
  void (*exp)(const float* x, int64_t count, float* y) noexcept;
  // x = softmax(x), in place; count > 0.
  void (*softmax)(float* x, int64_t count) noexcept;
  void (*attention)(const AttentionArguments& arguments) noexcept;
  // Takes `count` entries whose ids start at first_id into `best`, leaving out the forbidden ids.
  void (*top_k)(const float* entries, int64_t count, int32_t first_id, const int32_t* forbidden,
                int64_t forbidden_count, TopK* best) noexcept;
};

// One instance for each instruction set; call only where the machine has it. On other machines than
// x86-64 there is the reference alone.
const KernelTable* ReferenceKernels() noexcept;
const KernelTable* Avx2Kernels() noexcept;
const KernelTable* Avx512Kernels() noexcept;

}  // namespace attend

#endif  // ATTEND_ENGINE_KERNELS_KERNELS_H_
