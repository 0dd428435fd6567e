// The arithmetic of the engine: one table of functions for each instruction set.
//
// All functions are noexcept, allocate nothing, hold no state and may run on many threads at once.
// Each output element is computed in one order of operations that depends on its own row alone: not
// on how many rows there are nor on where a row stands, nor on the instruction set, so that results
// have the same bits on every machine. Products are added with one rounding (fused). Sums over a
// row (norms, soft-max, dot products of attention, log-sum-exp) run in kSumLanes lanes, element i
// in lane i % kSumLanes; then x[i] = (lane[i] + lane[4 + i]) + (lane[8 + i] + lane[12 + i]) for i <
// 4, and (x[0] + x[2]) + (x[1] + x[3]) is the sum. Exponentials are vector_math.inc's. Tails go
// through the same vector functions as whole vectors. This header is included by files compiled for
// one instruction set and must therefore define nothing that emits code.
#ifndef ATTEND_KERNELS_INFERENCE_KERNELS_H_
#define ATTEND_KERNELS_INFERENCE_KERNELS_H_

#include <stdint.h>

namespace attend {

// gelu_tanh(x) = x / (1 + exp(-2 sqrt(2 / pi) (x + 0.044715 x^3))), silu(x) = x / (1 + exp(-x)).
enum class MatmulActivation { kNone, kRelu, kGelu, kGeluTanh, kSilu };

// What becomes of a product's sums: y[r, c] = activation(sum + bias[c]) + residual[r, c].
struct MatmulOutput {
  int64_t first_column;   // a multiple of panel_columns
  int64_t last_column;    // one past; columns are output features
  const float* bias;      // by column, or null
  const float* residual;  // [rows, columns] with y's stride, or null; may be y
  float* y;               // y[0] is (row 0, column first_column)
  int64_t y_stride;
  MatmulActivation activation;
};

// sum[r, c] = sum over k of x[r, k] * w[c, k], in the order of k.
struct MatmulArguments {
  const float* x;  // [rows, inner]
  int64_t x_stride;
  int64_t rows;
  const float* packed;  // what pack_f32 made of all of w
  int64_t inner;
  MatmulOutput output;
};

// The same over int8: sum[r, c] = x_scales[r] * w_scales[c] * (the exact sum of the integers'
// products). |x| and |w| of `inner` up to 2^16 cannot overflow 32 bits.
struct Int8MatmulArguments {
  const void* x;          // [rows], what quantize_rows made
  const float* x_scales;  // [rows]
  int64_t rows;
  const void* packed;     // what pack_int8 made of all of w
  const float* w_scales;  // by column
  int64_t inner;
  MatmulOutput output;  // y is not written where `sums` is given
  int32_t* sums;        // null, or where the bare sums of integers go, laid out as y
};

constexpr int64_t kSumLanes = 16;

// Of gelu_tanh: 2 sqrt(2 / pi), and 0.044715 times that.
constexpr float kLinearTerm = 1.59576912f, kCubicTerm = 0.0713548163f;

// Rows whose greatest magnitude is not above this are quantised to zeros: its inverse is finite.
constexpr float kSmallestMagnitude = 1e-30f;

struct NormArguments {
  const float* x;  // [rows, width]
  int64_t rows;
  int64_t width;
  const float* gain;
  const float* bias;  // of layer_norm
  float epsilon;
  float* y;  // [rows, width]; may be x
};

// Query rows over the keys and values of one sentence; all heads. Query q sees the first
// count + q * growth rows, or those of a list of its own: hypotheses of one beam attend together,
// and what they share is read once.
struct AttentionArguments {
  const float* query;  // [queries, heads * d_k]
  int64_t query_stride;
  int64_t queries;
  const float* const* rows;  // [count + (queries - 1) * growth]; not read where there are lists
  int64_t keys;              // where in a row the keys begin, [heads * d_k]
  int64_t values;            // where in a row the values begin, [heads * d_v]
  int64_t count;
  int64_t growth;
  int64_t heads;
  int64_t d_k;
  int64_t d_v;
  float scale;  // of the dot products
  // Out: each query has room for [heads, rows that the last one sees] and writes [heads, rows that
  // it sees]. Several queries without lists may leave it out.
  float* weights;
  float* output;  // [queries, heads * d_v], out
  int64_t output_stride;
  float* scratch = nullptr;  // [AttentionScratch()], for several queries without lists
  // Null, or what is added to the scaled dot product of query q and row j in head h:
  // bias[h * bias_stride + j - q], with lists bias[h * bias_stride + j].
  const float* bias = nullptr;
  int64_t bias_stride = 0;
  // Null, or [queries] lists of `count` rows; growth is 0 then.
  const float* const* const* lists = nullptr;
};

// Floats that several queries need beside their results: some rows of weights, and the keys and the
// values of a head in whole vectors.
inline int64_t AttentionScratch(const AttentionArguments& a) {
  constexpr int64_t kTileRows = 8, kWidth = 16, kPanel = 32;  // at most
  const int64_t rows = a.count + (a.queries - 1) * a.growth;
  return rows * (kTileRows + a.d_v + kPanel) + (rows + kWidth) * a.d_k;
}

// The best entries of a row seen so far and, where it is wanted, its log-sum-exp, filled block by
// block.
struct TopK {
  float* values;  // [k], falling; equal values by rising id
  int32_t* ids;   // [k]
  int64_t k;
  int64_t count;         // entries filled
  float max;             // of all entries seen, forbidden ones too
  float sum;             // of exp(entry - max)
  bool with_sum = true;  // false: max stays, and sum too unless an entry is NaN, as it is then
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

  // int8 with one scale for each row of activations and each column of weights. Bytes of one row
  // that quantize_rows writes; bytes that pack_int8 writes.
  int64_t (*quantized_row_size)(int64_t inner) noexcept;
  int64_t (*packed_size_int8)(int64_t columns, int64_t inner) noexcept;
  // scales[r] = max |x[r]| / 127 and x / scale rounded to even. A row with a number that is not
  // finite gets the scale NaN, so that everything computed from it is NaN.
  void (*quantize_rows)(const float* x, int64_t rows, int64_t inner, void* quantized,
                        float* scales) noexcept;
  // As pack_f32, of w [columns, inner].
  void (*pack_int8)(const int8_t* w, int64_t columns, int64_t inner, void* packed) noexcept;
  void (*matmul_int8)(const Int8MatmulArguments& arguments) noexcept;

  // y = (x - mean) / sqrt(variance + epsilon) * gain + bias, row by row; y may be x.
  void (*layer_norm)(const NormArguments& arguments) noexcept;
  // y = x / sqrt(mean of x^2 + epsilon) * gain, row by row; y may be x.
  void (*rms_norm)(const NormArguments& arguments) noexcept;
  // y = embedding * scale + position; position may be null.
  void (*embed)(const float* embedding, float scale, const float* position, int64_t width,
                float* y) noexcept;
  void (*embed_int8)(const int8_t* embedding, float scale, const float* position, int64_t width,
                     float* y) noexcept;
  // y = x * y
  void (*multiply)(const float* x, float* y, int64_t count) noexcept;
  // With f = 1 / (1 + exp(-forget)): state = (before - input) * f + input, y = max(0, state).
  void (*recur)(const float* input, const float* forget, const float* before, int64_t count,
                float* state, float* y) noexcept;
  // x = softmax(x), in place; count > 0.
  void (*softmax)(float* x, int64_t count) noexcept;
  void (*attention)(const AttentionArguments& arguments) noexcept;
  // Takes `count` entries whose ids start at first_id into `best`, leaving out the forbidden ids.
  void (*top_k)(const float* entries, int64_t count, int32_t first_id, const int32_t* forbidden,
                int64_t forbidden_count, TopK* best) noexcept;
};

// One instance for each instruction set; call only where the machine has it. There are those of the
// processor that the library is built for, x86-64 or aarch64, and the reference.
const KernelTable* ReferenceKernels() noexcept;
const KernelTable* Avx2Kernels() noexcept;
const KernelTable* Avx512Kernels() noexcept;
const KernelTable* Avx512VnniKernels() noexcept;
const KernelTable* Avx512AmxKernels() noexcept;
const KernelTable* NeonKernels() noexcept;
const KernelTable* NeonDotKernels() noexcept;

}  // namespace attend

#endif  // ATTEND_KERNELS_INFERENCE_KERNELS_H_
