#include "engine/blocks/convolution.h"

#include <algorithm>

namespace attend {

TimeConvolution::TimeConvolution(const WeightSource& weights, const std::string& name,
                                 const ConvolutionShape& shape)
    : product_(weights, {name + ".weight"}), shape_(shape) {}

void TimeConvolution::Gather(const float* x_TI, int64_t rows, int64_t row, float* window) const {
  const int64_t in = shape_.in, begin = row * shape_.stride - shape_.kernel / 2;
  const int64_t first = std::max<int64_t>(begin, 0), end = std::min(begin + shape_.kernel, rows);
  float* at = std::fill_n(window, (first - begin) * in, 0.0f);
  at = std::copy(x_TI + first * in, x_TI + end * in, at);
  std::fill(at, window + shape_.kernel * in, 0.0f);
}

void TimeConvolution::Apply(const float* x_TI, int64_t rows, Scratch* scratch, float* y_RD) const {
  constexpr int64_t kTogether = 256;  // so that windows stay in the cache
  const int64_t size = shape_.kernel * shape_.in, count = RowsOf(rows);
  float* const windows = scratch->inner_RF.Get(std::min(count, kTogether) * size);
  for (int64_t first = 0; first < count; first += kTogether) {
    const int64_t some = std::min(kTogether, count - first);
    for (int64_t row = 0; row < some; ++row) Gather(x_TI, rows, first + row, windows + row * size);
    product_.Apply(windows, some, &scratch->linear, y_RD + first * columns(),
                   MatmulActivation::kGelu);
  }
}

}  // namespace attend
