// Every kernel in plain C++: what the others must equal to the bit, and what runs where none of
// them fits.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/inference/kernels.h"

// A function whose fused multiply-adds are instructions where the processor has them, and calls
// elsewhere. The loader chooses, before sanitizers are ready for it.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ATTEND_WITH_FMA [[gnu::target_clones("default", "fma")]]
#else
#define ATTEND_WITH_FMA
#endif

namespace attend {
namespace {

constexpr int64_t kPanel = 16;

// A product and a sum, rounded once.
float MulAdd(float a, float b, float c) noexcept { return std::fma(a, b, c); }

// What sums over a row run over, as kernels.h says. It has no constructor, which clang would leave
// out of functions that are compiled twice.
struct Lanes {
  float sums[kSumLanes];

  float& operator[](int64_t i) { return sums[i % kSumLanes]; }
  float Total() const {
    float x[4];
    for (int i = 0; i < 4; ++i) {
      x[i] = (sums[i] + sums[4 + i]) + (sums[8 + i] + sums[12 + i]);
    }
    return (x[0] + x[2]) + (x[1] + x[3]);
  }
};

// vector_math.inc's, with the same bits.
float ExpOf(float x) noexcept {
  x = -87.3f > x ? -87.3f : x;
  x = 88.3f < x ? 88.3f : x;
  if (std::isnan(x)) return x;
  const float n = std::nearbyint(x * 1.44269504f);
  float r = MulAdd(n, -0.693359375f, x);
  r = MulAdd(n, 2.12194440e-4f, r);
  float p = 1.0f / 5040;
  for (const float next : {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f}) {
    p = MulAdd(p, r, next);
  }
  return p * std::ldexp(1.0f, static_cast<int>(n));
}

float ErfOf(float x) noexcept {
  const float a = std::abs(x), t = 1.0f / MulAdd(a, 0.3275911f, 1.0f);
  float p = 1.061405429f;
  for (const float next : {-1.453152027f, 1.421413741f, -0.284496736f, 0.254829592f}) {
    p = MulAdd(p, t, next);
  }
  const float rest = 1.0f - p * t * ExpOf(0.0f - a * a);
  return std::copysign(0.0f > rest ? 0.0f : rest, x);
}

int64_t PackedSize(int64_t columns, int64_t inner) noexcept {
  return (columns + kPanel - 1) / kPanel * kPanel * inner;
}

void Pack(const float* w, int64_t columns, int64_t inner, float* packed) noexcept {
  for (int64_t first = 0; first < columns; first += kPanel) {
    for (int64_t k = 0; k < inner; ++k) {
      for (int64_t c = first; c < first + kPanel; ++c) {
        *packed++ = c < columns ? w[c * inner + k] : 0;
      }
    }
  }
}

float Activate(float x, MatmulActivation activation) noexcept {
  switch (activation) {
    case MatmulActivation::kRelu:
      return 0.0f > x ? 0.0f : x;
    case MatmulActivation::kGelu:
      return MulAdd(0.5f * x, ErfOf(x * 0.70710678f), 0.5f * x);
    case MatmulActivation::kGeluTanh:
      return x / (1.0f + ExpOf(0.0f - x * MulAdd(x * x, kCubicTerm, kLinearTerm)));
    case MatmulActivation::kSilu:
      return x / (1.0f + ExpOf(0.0f - x));
    default:
      return x;
  }
}

void Finish(const MatmulOutput& output, float sum, int64_t row, int64_t column) noexcept {
  if (output.bias != nullptr) sum += output.bias[column];
  sum = Activate(sum, output.activation);
  const int64_t at = row * output.y_stride + column - output.first_column;
  if (output.residual != nullptr) sum += output.residual[at];
  output.y[at] = sum;
}

ATTEND_WITH_FMA void Matmul(const MatmulArguments& a) noexcept {
  for (int64_t c = a.output.first_column; c < a.output.last_column; ++c) {
    const float* w = a.packed + c / kPanel * kPanel * a.inner + c % kPanel;
    for (int64_t r = 0; r < a.rows; ++r) {
      const float* x = a.x + r * a.x_stride;
      float sum = 0;
      for (int64_t k = 0; k < a.inner; ++k) sum = MulAdd(x[k], w[k * kPanel], sum);
      Finish(a.output, sum, r, c);
    }
  }
}

int64_t QuantizedRowSize(int64_t inner) noexcept { return inner; }

int64_t PackedSizeInt8(int64_t columns, int64_t inner) noexcept {
  return (columns + kPanel - 1) / kPanel * kPanel * inner;
}

void PackInt8(const int8_t* w, int64_t columns, int64_t inner, void* packed) noexcept {
  std::memset(packed, 0, PackedSizeInt8(columns, inner));
  std::memcpy(packed, w, columns * inner);
}

void QuantizeRows(const float* x, int64_t rows, int64_t inner, void* quantized,
                  float* scales) noexcept {
  auto* q = static_cast<int8_t*>(quantized);
  for (int64_t r = 0; r < rows; ++r, x += inner, q += inner) {
    float largest = 0;
    bool finite = true;
    for (int64_t k = 0; k < inner; ++k) {
      finite = finite && std::isfinite(x[k]);
      largest = std::max(largest, std::abs(x[k]));
    }
    scales[r] = finite ? largest / 127 : std::numeric_limits<float>::quiet_NaN();
    const float inverse = finite && largest > kSmallestMagnitude ? 127 / largest : 0;
    for (int64_t k = 0; k < inner; ++k) {
      q[k] = finite ? static_cast<int8_t>(std::nearbyint(x[k] * inverse)) : int8_t{0};
    }
  }
}

void MatmulInt8(const Int8MatmulArguments& a) noexcept {
  for (int64_t c = a.output.first_column; c < a.output.last_column; ++c) {
    const int8_t* w = static_cast<const int8_t*>(a.packed) + c * a.inner;
    for (int64_t r = 0; r < a.rows; ++r) {
      const int8_t* x = static_cast<const int8_t*>(a.x) + r * a.inner;
      int32_t sum = 0;
      for (int64_t k = 0; k < a.inner; ++k) sum += int32_t{x[k]} * int32_t{w[k]};
      if (a.sums != nullptr) {
        a.sums[r * a.output.y_stride + c - a.output.first_column] = sum;
      } else {
        Finish(a.output, static_cast<float>(sum) * (a.x_scales[r] * a.w_scales[c]), r, c);
      }
    }
  }
}

void LayerNorm(const NormArguments& a) noexcept {
  const int64_t width = a.width;
  const float inverse = 1.0f / static_cast<float>(width);
  for (int64_t r = 0; r < a.rows; ++r) {
    const float* x = a.x + r * width;
    float* y = a.y + r * width;
    Lanes sum = {}, squares = {};
    for (int64_t i = 0; i < width; ++i) sum[i] += x[i];
    const float mean = sum.Total() * inverse;
    for (int64_t i = 0; i < width; ++i) squares[i] = MulAdd(x[i] - mean, x[i] - mean, squares[i]);
    const float scale = 1.0f / std::sqrt(squares.Total() * inverse + a.epsilon);
    for (int64_t i = 0; i < width; ++i) y[i] = MulAdd((x[i] - mean) * scale, a.gain[i], a.bias[i]);
  }
}

void RmsNorm(const NormArguments& a) noexcept {
  const float inverse = 1.0f / static_cast<float>(a.width);
  for (int64_t r = 0; r < a.rows; ++r) {
    const float* x = a.x + r * a.width;
    float* y = a.y + r * a.width;
    Lanes squares = {};
    for (int64_t i = 0; i < a.width; ++i) squares[i] = MulAdd(x[i], x[i], squares[i]);
    const float scale = 1.0f / std::sqrt(squares.Total() * inverse + a.epsilon);
    for (int64_t i = 0; i < a.width; ++i) y[i] = x[i] * scale * a.gain[i];
  }
}

void Embed(const float* embedding, float scale, const float* position, int64_t width,
           float* y) noexcept {
  for (int64_t i = 0; i < width; ++i) {
    y[i] = MulAdd(embedding[i], scale, position != nullptr ? position[i] : 0);
  }
}

void EmbedInt8(const int8_t* embedding, float scale, const float* position, int64_t width,
               float* y) noexcept {
  for (int64_t i = 0; i < width; ++i) {
    y[i] = MulAdd(embedding[i], scale, position != nullptr ? position[i] : 0);
  }
}

void Multiply(const float* x, float* y, int64_t count) noexcept {
  for (int64_t i = 0; i < count; ++i) y[i] = x[i] * y[i];
}

ATTEND_WITH_FMA void Recur(const float* input, const float* forget, const float* before,
                           int64_t count, float* state, float* y) noexcept {
  for (int64_t i = 0; i < count; ++i) {
    const float f = 1.0f / (1.0f + ExpOf(0.0f - forget[i]));
    state[i] = MulAdd(before[i] - input[i], f, input[i]);
    y[i] = 0.0f > state[i] ? 0.0f : state[i];
  }
}

ATTEND_WITH_FMA void Softmax(float* x, int64_t count) noexcept {
  float max = x[0];
  Lanes sum = {};
  for (int64_t i = 1; i < count; ++i) max = x[i] > max ? x[i] : max;
  for (int64_t i = 0; i < count; ++i) sum[i] += x[i] = ExpOf(x[i] - max);
  const float scale = 1.0f / sum.Total();
  for (int64_t i = 0; i < count; ++i) x[i] *= scale;
}

ATTEND_WITH_FMA void AttendHead(const AttentionArguments& a, int64_t query, int64_t h) {
  const int64_t count = a.count + query * a.growth, most = a.count + (a.queries - 1) * a.growth;
  const float* q = a.query + query * a.query_stride + h * a.d_k;
  float* weights =
      a.weights != nullptr ? a.weights + query * a.heads * most + h * count : a.scratch;
  float* output = a.output + query * a.output_stride + h * a.d_v;
  for (int64_t v = 0; v < a.d_v; ++v) output[v] = 0;
  if (count == 0) return;
  const float* const* rows = a.lists != nullptr ? a.lists[query] : a.rows;
  const int64_t nearer = a.lists != nullptr ? 0 : query;  // than the first query is to a row
  for (int64_t j = 0; j < count; ++j) {
    const float* key = rows[j] + a.keys + h * a.d_k;
    Lanes dot = {};
    for (int64_t k = 0; k < a.d_k; ++k) dot[k] = MulAdd(q[k], key[k], dot[k]);
    weights[j] = dot.Total() * a.scale;
    if (a.bias != nullptr) weights[j] += a.bias[h * a.bias_stride + j - nearer];
  }
  Softmax(weights, count);
  for (int64_t j = 0; j < count; ++j) {
    const float* value = rows[j] + a.values + h * a.d_v;
    for (int64_t v = 0; v < a.d_v; ++v) output[v] = MulAdd(weights[j], value[v], output[v]);
  }
}

void Attention(const AttentionArguments& a) noexcept {
  for (int64_t q = 0; q < a.queries; ++q) {
    for (int64_t h = 0; h < a.heads; ++h) AttendHead(a, q, h);
  }
}

bool Forbidden(int32_t id, const int32_t* forbidden, int64_t count) noexcept {
  for (int64_t i = 0; i < count; ++i) {
    if (forbidden[i] == id) return true;
  }
  return false;
}

ATTEND_WITH_FMA void AddToSum(const float* entries, int64_t count, TopK* best) {
  float max = best->max;
  for (int64_t i = 0; i < count; ++i) max = entries[i] > max ? entries[i] : max;
  Lanes sum = {};
  for (int64_t i = 0; i < count; ++i) sum[i] += ExpOf(entries[i] - max);
  best->sum = best->sum * ExpOf(best->max - max) + sum.Total();
  best->max = max;
}

void TopKOf(const float* entries, int64_t count, int32_t first_id, const int32_t* forbidden,
            int64_t forbidden_count, TopK* best) noexcept {
  if (best->with_sum) {
    AddToSum(entries, count, best);
  } else if (std::any_of(entries, entries + count, [](float x) { return std::isnan(x); })) {
    best->sum = std::numeric_limits<float>::quiet_NaN();
  }
  for (int64_t i = 0; i < count; ++i) {
    const int32_t id = first_id + static_cast<int32_t>(i);
    const bool full = best->count == best->k;
    const float bound = full ? best->values[best->k - 1] : -std::numeric_limits<float>::infinity();
    if (!(entries[i] > bound)) continue;
    if (Forbidden(id, forbidden, forbidden_count)) continue;
    int64_t at = best->count < best->k ? best->count++ : best->k - 1;
    for (; at > 0 && best->values[at - 1] < entries[i]; --at) {
      best->values[at] = best->values[at - 1];
      best->ids[at] = best->ids[at - 1];
    }
    best->values[at] = entries[i];
    best->ids[at] = id;
  }
}

constexpr KernelTable kTable = {"reference", kPanel,           PackedSize,     Pack,
                                Matmul,      QuantizedRowSize, PackedSizeInt8, QuantizeRows,
                                PackInt8,    MatmulInt8,       LayerNorm,      RmsNorm,
                                Embed,       EmbedInt8,        Multiply,       Recur,
                                Softmax,     Attention,        TopKOf};

}  // namespace

const KernelTable* ReferenceKernels() noexcept { return &kTable; }

}  // namespace attend
