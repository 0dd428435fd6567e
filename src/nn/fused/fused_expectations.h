// What tests of fused functions expect of them: the plain versions' values and gradients.
#ifndef ATTEND_NN_FUSED_FUSED_EXPECTATIONS_H_
#define ATTEND_NN_FUSED_FUSED_EXPECTATIONS_H_

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "attend/nn/dropout.h"
#include "attend/nn/torch.h"

namespace attend::nn {

using Tensors = std::vector<torch::Tensor>;
using Function = std::function<torch::Tensor(const Tensors&)>;

inline constexpr DropoutSite kNone{};
inline constexpr DropoutSite kSome{0.3, 0x123456789abcdef0u, 5, 7};

inline torch::Tensor Random(at::IntArrayRef shape) { return torch::randn(shape, torch::kFloat64); }

// Value and gradients of sum(f(inputs) * weights).
inline Tensors ValueAndGradients(const Function& function, const Tensors& inputs,
                                 torch::ScalarType dtype) {
  Tensors own;
  for (const torch::Tensor& input : inputs) own.push_back(input.to(dtype).clone().requires_grad_());
  const torch::Tensor value = function(own);
  torch::manual_seed(99);
  const torch::Tensor weights = torch::randn(value.sizes(), torch::kFloat64).to(dtype);
  Tensors result{value};
  for (const torch::Tensor& gradient : torch::autograd::grad({(value * weights).sum()}, own)) {
    result.push_back(gradient);
  }
  return result;
}

inline void ExpectClose(const Tensors& found, const Tensors& expected, double tolerance,
                        const std::string& what) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].sizes(), expected[i].sizes()) << what;
    const double difference = (found[i] - expected[i]).norm().item<double>();
    EXPECT_LE(difference, tolerance * (1 + expected[i].norm().item<double>()))
        << what << ", " << (i == 0 ? "value" : "gradient " + std::to_string(i));
  }
}

// The gradients of the function in f64 against a central difference in a random direction.
inline void ExpectGradientsOfTheValue(const Function& function, const Tensors& inputs,
                                      const std::string& what) {
  constexpr double kStep = 1e-6;
  const Tensors found = ValueAndGradients(function, inputs, torch::kFloat64);
  torch::manual_seed(99);
  const torch::Tensor weights = Random(found[0].sizes());
  Tensors above, below;
  double expected = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const torch::Tensor input = inputs[i].to(torch::kFloat64), direction = Random(input.sizes());
    above.push_back(input + kStep * direction);
    below.push_back(input - kStep * direction);
    expected += (found[i + 1] * direction).sum().item<double>();
  }
  const auto loss = [&](const Tensors& at) {
    return (function(at) * weights).sum().item<double>();
  };
  EXPECT_NEAR((loss(above) - loss(below)) / (2 * kStep), expected, 1e-6 * (1 + std::abs(expected)))
      << what;
}

// The fused function in f64 and f32 against the plain one in f64.
inline void ExpectEqual(const Function& fused, const Function& plain, const Tensors& inputs,
                        const std::string& what) {
  const Tensors expected = ValueAndGradients(plain, inputs, torch::kFloat64);
  ExpectClose(ValueAndGradients(fused, inputs, torch::kFloat64), expected, 1e-12, what + " f64");
  ExpectGradientsOfTheValue(fused, inputs, what);
  const Tensors once = ValueAndGradients(fused, inputs, torch::kFloat32);
  ExpectClose(once, expected, 1e-5, what + " f32");
  const Tensors again = ValueAndGradients(fused, inputs, torch::kFloat32);
  for (size_t i = 0; i < once.size(); ++i) EXPECT_TRUE(torch::equal(once[i], again[i])) << what;
}

// The offsets of packed sentences with these lengths, [B + 1].
inline torch::Tensor Offsets(const std::vector<int64_t>& lengths) {
  torch::Tensor offsets = torch::zeros({static_cast<int64_t>(lengths.size()) + 1}, torch::kInt64);
  offsets.slice(0, 1) = torch::tensor(lengths).cumsum(0);
  return offsets;
}

}  // namespace attend::nn

#endif  // ATTEND_NN_FUSED_FUSED_EXPECTATIONS_H_
