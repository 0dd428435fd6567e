#include "attend/nn/masks.h"

#include <limits>

namespace attend::nn {

torch::Tensor BiasOfPairs(const torch::Tensor& bias_HN, int64_t length) {
  if (length == 0) return bias_HN.new_zeros({bias_HN.size(0), 0, 0});
  const int64_t middle = bias_HN.size(1) / 2;
  // Windows of T distances: the last query's begins at 1 - T, the first one's at 0.
  return bias_HN.narrow(1, middle + 1 - length, 2 * length - 1).unfold(1, length, 1).flip(1);
}

torch::Tensor ValidTokens(const torch::Tensor& ids_BS, int64_t pad_id) { return ids_BS.ne(pad_id); }

torch::Tensor MaskFromAllowed(const torch::Tensor& allowed, torch::ScalarType dtype) {
  const double hidden = -std::numeric_limits<double>::infinity();
  return torch::zeros_like(allowed, allowed.options().dtype(dtype))
      .masked_fill_(allowed.logical_not(), hidden);
}

torch::Tensor PaddingMask(const torch::Tensor& valid_BS, torch::ScalarType dtype) {
  if (valid_BS.is_cpu() && valid_BS.all().item<bool>()) return {};
  return MaskFromAllowed(valid_BS, dtype).unsqueeze(1).unsqueeze(1);
}

torch::Tensor WindowMask(int64_t length, int64_t window, const torch::TensorOptions& options) {
  const double hidden = -std::numeric_limits<double>::infinity();
  const torch::Tensor after = torch::full({length, length}, hidden, options).triu_(window + 1);
  return (after + after.t()).view({1, 1, length, length});
}

torch::Tensor CausalMask(int64_t length, const torch::TensorOptions& options) {
  const double hidden = -std::numeric_limits<double>::infinity();
  return torch::full({length, length}, hidden, options).triu_(1).view({1, 1, length, length});
}

}  // namespace attend::nn
