// Against the rounding of exported models (QuantizeMatrix) and of the engine's kernels.
#include "nn/int8_rounding.h"

#include <gtest/gtest.h>

#include <vector>

#include "model/quantize.h"
#include "nn/linear.h"

namespace attend::nn {
namespace {

TEST(Int8RoundingTest, WeightsAreThoseOfAQuantizedModel) {
  torch::manual_seed(1);
  for (const int64_t width : {1, 2, 7, 64}) {
    torch::Tensor weight_ED = torch::randn({5, width});
    weight_ED[3].zero_();
    const Int8Matrix expected =
        QuantizeMatrix({"w", {5, width}}, weight_ED.const_data_ptr<float>());
    const Int8Rounding rounding(true);
    const torch::Tensor found_ED = RoundedWeight(weight_ED);
    for (int64_t e = 0; e < 5; ++e) {
      for (int64_t d = 0; d < width; ++d) {
        const double value = static_cast<double>(expected.integers[e * width + d]) *
                             static_cast<double>(expected.scales[e]);
        EXPECT_NEAR(found_ED[e][d].item<double>(), value, 1e-6) << width << " " << e << " " << d;
      }
    }
  }
}

TEST(Int8RoundingTest, RowsHaveAScaleEach) {
  const Int8Rounding rounding(true);
  const torch::Tensor x_RD =
      torch::tensor({{127.0F, -3.4F, 0.6F}, {1.27F, 0.014F, 0.0F}, {0.0F, 0.0F, 0.0F}});
  const torch::Tensor expected_RD =
      torch::tensor({{127.0F, -3.0F, 1.0F}, {1.27F, 0.01F, 0.0F}, {0.0F, 0.0F, 0.0F}});
  EXPECT_TRUE(torch::allclose(RoundedRows(x_RD), expected_RD, 1e-5, 1e-6)) << RoundedRows(x_RD);
}

TEST(Int8RoundingTest, RowsInBf16HaveTheMultiplesOfF32) {
  torch::manual_seed(3);
  const Int8Rounding rounding(true);
  const torch::Tensor x_RD = torch::randn({50, 64}).to(torch::kBFloat16);
  const torch::Tensor found_RD = RoundedRows(x_RD);
  EXPECT_EQ(found_RD.scalar_type(), torch::kBFloat16);
  EXPECT_TRUE(torch::equal(found_RD, RoundedRows(x_RD.to(torch::kFloat32)).to(torch::kBFloat16)));
}

TEST(Int8RoundingTest, GradientsGoStraightThroughAndOnlyWhileOneLives) {
  torch::manual_seed(2);
  const torch::Tensor x_RD = torch::randn({6, 8}).requires_grad_(),
                      weight_ED = torch::randn({4, 8}).requires_grad_(),
                      from_RE = torch::randn({6, 4});
  const auto gradients = [&](const torch::Tensor& y_RE) {
    return torch::autograd::grad({(y_RE * from_RE).sum()}, {x_RD, weight_ED});
  };
  torch::Tensor rounded_x, rounded_weight, found;
  std::vector<torch::Tensor> of_found;
  {
    const Int8Rounding rounding(true);
    rounded_x = RoundedRows(x_RD).detach();
    rounded_weight = RoundedWeight(weight_ED).detach();
    found = Linear(x_RD, weight_ED, {});
    {
      const Int8Rounding off(false);
      EXPECT_TRUE(torch::equal(RoundedRows(x_RD), x_RD));
    }
    EXPECT_TRUE(Int8Rounding::on());
  }
  EXPECT_FALSE(Int8Rounding::on());
  of_found = gradients(found);
  EXPECT_TRUE(torch::allclose(found, torch::matmul(rounded_x, rounded_weight.t()), 1e-5, 1e-5));
  EXPECT_GT((found - torch::matmul(x_RD, weight_ED.t())).abs().max().item<double>(), 1e-3);
  EXPECT_TRUE(torch::allclose(of_found[0], torch::matmul(from_RE, rounded_weight), 1e-5, 1e-5));
  EXPECT_TRUE(torch::allclose(of_found[1], torch::matmul(from_RE.t(), rounded_x), 1e-5, 1e-5));
}

}  // namespace
}  // namespace attend::nn
