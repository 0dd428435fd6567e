#include "attend/nn/frame_convolutions.h"

#include <string>

#include "nn/linear.h"

namespace attend::nn {
namespace {

// The rows that each row of a convolution's result reads, and where recordings begin in that
// result.
struct ReadRows {
  std::vector<int64_t> rows;
  std::vector<int64_t> offsets = {0};
};

// What lies beyond a recording's ends is row `zeros`.
ReadRows ReadRowsOf(const std::vector<int64_t>& offsets, int64_t kernel, int64_t stride,
                    int64_t zeros) {
  ReadRows windows;
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    const int64_t begin = offsets[b], end = offsets[b + 1];
    for (int64_t middle = begin; middle < end; middle += stride) {
      for (int64_t row = middle - kernel / 2; row <= middle + kernel / 2; ++row)
        windows.rows.push_back(row < begin || row >= end ? zeros : row);
    }
    windows.offsets.push_back(windows.offsets.back() + (end - begin + stride - 1) / stride);
  }
  return windows;
}

}  // namespace

FrameConvolutionsImpl::FrameConvolutionsImpl(const FrameInput& input, int64_t d_model)
    : input_(input) {
  for (size_t i = 0; i < input.kernels.size(); ++i) {
    const int64_t in = i == 0 ? input.mels : d_model;
    convolutions_.push_back(register_module(
        std::to_string(i), LinearLayer(input.kernels[i] * in, d_model, /*with_bias=*/true)));
  }
}

torch::Tensor FrameConvolutionsImpl::forward(const torch::Tensor& frames_FM,
                                             const torch::Tensor& offsets_B1) {
  torch::Tensor x_RE = frames_FM;
  const int64_t* given = offsets_B1.const_data_ptr<int64_t>();
  std::vector<int64_t> offsets(given, given + offsets_B1.numel());
  for (size_t i = 0; i < convolutions_.size(); ++i) {
    ReadRows windows = ReadRowsOf(offsets, input_.kernels[i], input_.strides[i], x_RE.size(0));
    const torch::Tensor with_zeros_RE =
        torch::cat({x_RE, torch::zeros({1, x_RE.size(1)}, x_RE.options())});
    const torch::Tensor windows_RW =
        with_zeros_RE.index_select(0, torch::tensor(windows.rows, torch::kInt64).to(x_RE.device()))
            .view({-1, input_.kernels[i] * x_RE.size(1)});
    x_RE = torch::gelu(Linear(windows_RW, convolutions_[i]));
    offsets = std::move(windows.offsets);
  }
  return x_RE;
}

}  // namespace attend::nn
