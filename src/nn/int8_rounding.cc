#include "nn/int8_rounding.h"

#include <limits>

namespace attend::nn {
namespace {

constexpr double kMost = 127;

thread_local bool rounds = false;

// As the engine has it: in bf16 the multiples themselves would be wrong.
torch::Tensor Exact(const torch::Tensor& x) {
  const bool bf16 = x.scalar_type() == torch::kBFloat16;
  return bf16 ? x.detach().to(torch::kFloat32) : x.detach();
}

// Multiples of `scale`, one for each row.
torch::Tensor Multiples(const torch::Tensor& x, const torch::Tensor& scale) {
  // Of a row of zeros, whose multiples are zeros.
  const torch::Tensor divisor = scale.clamp_min(std::numeric_limits<float>::min());
  return x.div(divisor).round_().clamp_(-kMost, kMost).mul_(divisor);
}

// `rounded` with the gradient and the type of `x`.
torch::Tensor StraightThrough(const torch::Tensor& x, const torch::Tensor& rounded) {
  return rounded.to(x.scalar_type()) + (x - x.detach());
}

}  // namespace

Int8Rounding::Int8Rounding(bool on) : was_on_(rounds) { rounds = on; }
Int8Rounding::~Int8Rounding() { rounds = was_on_; }
bool Int8Rounding::on() { return rounds; }

torch::Tensor RoundedWeight(const torch::Tensor& weight_ED) {
  if (!rounds || !weight_ED.defined()) return weight_ED;
  const torch::Tensor exact = Exact(weight_ED), size = exact.abs();
  torch::Tensor largest = size.amax(1, true);
  const int64_t even = exact.size(1) / 2 * 2;
  if (even > 0) {  // what two neighbours come to: quantize.h
    const torch::Tensor pairs = size.narrow(1, 0, even).unflatten(1, {even / 2, 2}).sum(2);
    largest = torch::maximum(largest, pairs.amax(1, true));
  }
  return StraightThrough(weight_ED, Multiples(exact, largest / kMost));
}

torch::Tensor RoundedRows(const torch::Tensor& x) {
  if (!rounds) return x;
  const torch::Tensor exact = Exact(x);
  return StraightThrough(x, Multiples(exact, exact.abs().amax(-1, true) / kMost));
}

}  // namespace attend::nn
