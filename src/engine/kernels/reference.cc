// The plain version of every kernel: the oracle of their tests, and what runs where no faster one
// fits.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/kernels/kernels.h"

namespace attend {
namespace {

constexpr int64_t kPanel = 16;

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
      return x > 0 || x != x ? x : 0;
    case MatmulActivation::kGelu:
      return 0.5f * x * (1 + std::erf(x * 0.70710678118654752f));
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

void Matmul(const MatmulArguments& a) noexcept {
  for (int64_t c = a.output.first_column; c < a.output.last_column; ++c) {
    const float* w = a.packed + c / kPanel * kPanel * a.inner + c % kPanel;
    for (int64_t r = 0; r < a.rows; ++r) {
      const float* x = a.x + r * a.x_stride;
      float sum = 0;
      for (int64_t k = 0; k < a.inner; ++k) sum += x[k] * w[k * kPanel];
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

void LayerNorm(const LayerNormArguments& a) noexcept {
  const int64_t width = a.width;
  for (int64_t r = 0; r < a.rows; ++r) {
    const float* x = a.x + r * width;
    float* y = a.y + r * width;
    float mean = 0, variance = 0;
    for (int64_t i = 0; i < width; ++i) mean += x[i];
    mean /= static_cast<float>(width);
    for (int64_t i = 0; i < width; ++i) variance += (x[i] - mean) * (x[i] - mean);
    variance /= static_cast<float>(width);
    const float scale = 1 / std::sqrt(variance + a.epsilon);
    for (int64_t i = 0; i < width; ++i) y[i] = (x[i] - mean) * scale * a.gain[i] + a.bias[i];
  }
}

void Embed(const float* embedding, float scale, const float* position, int64_t width,
           float* y) noexcept {
  for (int64_t i = 0; i < width; ++i) {
    y[i] = embedding[i] * scale + (position != nullptr ? position[i] : 0);
  }
}

void EmbedInt8(const int8_t* embedding, float scale, const float* position, int64_t width,
               float* y) noexcept {
  for (int64_t i = 0; i < width; ++i) {
    y[i] = static_cast<float>(embedding[i]) * scale + (position != nullptr ? position[i] : 0);
  }
}

void SwiGlu(const float* gate, float* inner, int64_t count) noexcept {
  for (int64_t i = 0; i < count; ++i) inner[i] = gate[i] / (1 + std::exp(-gate[i])) * inner[i];
}

void Exp(const float* x, int64_t count, float* y) noexcept {
  for (int64_t i = 0; i < count; ++i) y[i] = std::exp(x[i]);
}

void Softmax(float* x, int64_t count) noexcept {
  float max = x[0], sum = 0;
  for (int64_t i = 1; i < count; ++i) max = x[i] > max ? x[i] : max;
  for (int64_t i = 0; i < count; ++i) sum += x[i] = std::exp(x[i] - max);
  for (int64_t i = 0; i < count; ++i) x[i] /= sum;
}

void Attention(const AttentionArguments& a) noexcept {
  for (int64_t h = 0; h < a.heads; ++h) {
    float* weights = a.weights + h * a.count;
    float* output = a.output + h * a.d_v;
    for (int64_t v = 0; v < a.d_v; ++v) output[v] = 0;
    if (a.count == 0) continue;
    for (int64_t j = 0; j < a.count; ++j) {
      const float* key = a.rows[j] + a.keys + h * a.d_k;
      float dot = 0;
      for (int64_t k = 0; k < a.d_k; ++k) dot += a.query[h * a.d_k + k] * key[k];
      weights[j] = dot * a.scale;
    }
    Softmax(weights, a.count);
    for (int64_t j = 0; j < a.count; ++j) {
      const float* value = a.rows[j] + a.values + h * a.d_v;
      for (int64_t v = 0; v < a.d_v; ++v) output[v] += weights[j] * value[v];
    }
  }
}

bool Forbidden(int32_t id, const int32_t* forbidden, int64_t count) noexcept {
  for (int64_t i = 0; i < count; ++i) {
    if (forbidden[i] == id) return true;
  }
  return false;
}

void TopKOf(const float* entries, int64_t count, int32_t first_id, const int32_t* forbidden,
            int64_t forbidden_count, TopK* best) noexcept {
  float max = best->max;
  for (int64_t i = 0; i < count; ++i) max = entries[i] > max ? entries[i] : max;
  best->sum *= std::exp(best->max - max);
  best->max = max;
  for (int64_t i = 0; i < count; ++i) best->sum += std::exp(entries[i] - max);
  for (int64_t i = 0; i < count; ++i) {
    const int32_t id = first_id + static_cast<int32_t>(i);
    if (best->count == best->k && !(entries[i] > best->values[best->k - 1])) continue;
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

constexpr KernelTable kTable = {
    "reference",    kPanel,       PackedSize, Pack,       Matmul,    QuantizedRowSize,
    PackedSizeInt8, QuantizeRows, PackInt8,   MatmulInt8, LayerNorm, Embed,
    EmbedInt8,      SwiGlu,       Exp,        Softmax,    Attention, TopKOf};

}  // namespace

const KernelTable* ReferenceKernels() noexcept { return &kTable; }

}  // namespace attend
