#include "attend/nn/positions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "attend/error.h"
#include "model/relative_buckets.h"

namespace attend::nn {
namespace {

constexpr double kLongestWavelength = 10000;  // over 2 pi, section 3.5

torch::Tensor Sinusoids(int64_t first, int64_t length, int64_t d_model,
                        SinusoidConvention convention) {
  const auto options = torch::TensorOptions().dtype(torch::kFloat64);
  const torch::Tensor position_T1 = torch::arange(first, first + length, options).unsqueeze(1);
  const double exponents =
      static_cast<double>(d_model) / 2 - (convention == SinusoidConvention::kTimingSignal ? 1 : 0);
  const torch::Tensor exponent = torch::arange(0, d_model / 2, options) / exponents;
  const torch::Tensor angle = position_T1 / torch::pow(kLongestWavelength, exponent);  // [T, D/2]
  if (convention == SinusoidConvention::kInterleaved)
    return torch::stack({angle.sin(), angle.cos()}, 2).flatten(1);
  return torch::cat({angle.sin(), angle.cos()}, 1);
}

}  // namespace

SinusoidalPositionalEncodingImpl::SinusoidalPositionalEncodingImpl(int64_t d_model,
                                                                   SinusoidConvention convention,
                                                                   int64_t offset)
    : d_model_(d_model), convention_(convention), offset_(offset) {
  if (d_model % 2 != 0) {
    throw Error(
        ErrorKind::kConfiguration,
        fmt::format("d_model is {}, expected an even number for sinusoidal positions", d_model));
  }
}

torch::Tensor SinusoidalPositionalEncodingImpl::Table(int64_t length,
                                                      const torch::TensorOptions& options) {
  const std::lock_guard lock(table_mutex_);
  const bool fits = table_TD_.defined() && table_TD_.size(0) >= length &&
                    table_TD_.dtype() == options.dtype() && table_TD_.device() == options.device();
  if (!fits) {
    constexpr int64_t kShortest = 256;
    const int64_t known = table_TD_.defined() ? table_TD_.size(0) : kShortest;
    torch::NoGradGuard no_grad;
    table_TD_ = Sinusoids(offset_, std::max(length, known), d_model_, convention_).to(options);
  }
  return table_TD_.narrow(0, 0, length);
}

torch::Tensor SinusoidalPositionalEncodingImpl::forward(const torch::Tensor& input_BTD) {
  return input_BTD + Table(input_BTD.size(-2), input_BTD.options());
}

LearnedPositionalEncodingImpl::LearnedPositionalEncodingImpl(int64_t max_positions, int64_t d_model,
                                                             int64_t offset)
    : offset_(offset) {
  weight = register_parameter(
      "weight", torch::randn({max_positions, d_model}) / std::sqrt(static_cast<double>(d_model)));
}

torch::Tensor LearnedPositionalEncodingImpl::Table(int64_t length) const {
  if (offset_ + length > weight.size(0)) {
    throw Error(
        ErrorKind::kInput,
        fmt::format(
            "a sequence of {} tokens at position {} needs {} learned positions, the model has {}; "
            "cut it, or train with a larger max_positions",
            length, offset_, offset_ + length, weight.size(0)));
  }
  return weight.narrow(0, offset_, length);
}

torch::Tensor LearnedPositionalEncodingImpl::forward(const torch::Tensor& input_BTD) {
  return input_BTD + Table(input_BTD.size(-2));
}

RelativePositionBiasImpl::RelativePositionBiasImpl(const StackConfig& config, bool both_ways)
    : config_(config), both_ways_(both_ways) {
  weight = register_parameter("weight", torch::zeros({config.relative_buckets, config.heads}));
}

torch::Tensor RelativePositionBiasImpl::Buckets(int64_t length) {
  const std::lock_guard lock(buckets_mutex_);
  int64_t known = buckets_.defined() ? (buckets_.size(0) + 1) / 2 : 0;
  if (known < length || buckets_.device() != weight.device()) {
    constexpr int64_t kShortest = 256;
    known = std::max({length, known, kShortest});
    const RelativeBuckets buckets(config_, both_ways_);
    std::vector<int64_t> of_distances;
    for (int64_t distance = 1 - known; distance < known; ++distance)
      of_distances.push_back(buckets.Of(distance));
    buckets_ = torch::tensor(of_distances).to(weight.device());
  }
  return buckets_.narrow(0, known - length, 2 * length - 1);
}

torch::Tensor RelativePositionBiasImpl::forward(int64_t length) {
  return torch::embedding(weight, Buckets(std::max<int64_t>(length, 1))).t();
}

}  // namespace attend::nn
