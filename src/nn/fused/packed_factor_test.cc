// Products by kernels against LibTorch's in f64, of all shapes around tiles, panels and blocks.
#include "nn/fused/packed_factor.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attend/error.h"
#include "kernels/inference/dispatch.h"

namespace attend::nn {
namespace {

struct Shape {
  int64_t rows, inner, columns;
};

// Around the vectors' widths, the height of tiles, the columns of panels and the blocks.
std::vector<Shape> Shapes() {
  std::vector<Shape> shapes;
  for (const int64_t rows : {0, 1, 2, 5, 6, 7, 8, 9, 17}) {
    for (const int64_t columns : {1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 50}) {
      for (const int64_t inner : {0, 1, 2, 3, 8}) shapes.push_back({rows, inner, columns});
    }
  }
  for (const int64_t inner : {255, 256, 257, 515}) shapes.push_back({300, inner, 40});
  return shapes;
}

// A matrix as it is, and the same one lying transposed in memory.
std::vector<torch::Tensor> Layouts(const torch::Tensor& x) {
  std::vector<torch::Tensor> layouts{x, x.t().contiguous().t()};
  if (x.numel() == 0) return layouts;
  layouts.push_back(x.slice(0, 0, 1).expand_as(x));
  layouts.push_back(x.slice(1, 0, 1).contiguous().expand_as(x));
  layouts.push_back(x.slice(0, 0, 1).slice(1, 0, 1).expand_as(x));
  return layouts;
}

torch::Tensor Rounded(const torch::Tensor& x, torch::ScalarType type) {
  return x.to(type).to(torch::kFloat64);
}

void ExpectProduct(const Shape& shape, torch::ScalarType type) {
  const torch::ScalarType held = type == torch::kFloat64 ? type : torch::kFloat32;
  const torch::Tensor a = torch::randn({shape.rows, shape.inner}, held),
                      b = torch::randn({shape.inner, shape.columns}, held),
                      bias = torch::randn({shape.columns}, held);
  // Additions round, in f64 those of what is expected too, and LibTorch its results in bf16.
  const double step = type == torch::kFloat64 ? 0x1p-51 : 0x1p-23;
  const bool rounds_results = type == torch::kBFloat16 && !HasProductKernels(a, type);
  const double tolerance =
      step * static_cast<double>(shape.inner + 10) + (rounds_results ? 0x1p-7 : 0);
  torch::Tensor product, most;
  const auto expect = [&](const torch::Tensor& found, const torch::Tensor& expected) {
    const torch::Tensor difference = (found.to(torch::kFloat64) - expected).abs() / most;
    const double worst = difference.numel() == 0 ? 0 : difference.max().item<double>();
    EXPECT_LT(worst, tolerance) << type << " " << shape.rows << " " << shape.inner << " "
                                << shape.columns;
  };
  for (const torch::Tensor& left : Layouts(a)) {
    for (const torch::Tensor& right : Layouts(b)) {
      const PackedFactor factor(right, type);
      product = torch::mm(Rounded(left, type), Rounded(right, type));
      most = torch::mm(left.abs(), right.abs()).to(torch::kFloat64) + 3;
      // Within a wider tensor, of which nothing else may be written.
      const torch::Tensor wide = torch::full({shape.rows, shape.columns + 2}, 0.5, held);
      const torch::Tensor result = wide.narrow(1, 0, shape.columns);
      factor.Multiply(left, result, bias);
      expect(result, product + bias);
      factor.Multiply(left, result);
      expect(result, product);
      factor.MultiplyAdd(left, result);
      expect(result, 2 * product);
      EXPECT_TRUE(wide.narrow(1, shape.columns, 2).eq(0.5).all().item<bool>());
    }
  }
}

TEST(PackedFactorTest, ProductsAreThoseOfF64) {
  torch::manual_seed(1);
  for (const Shape& shape : Shapes()) {
    for (const auto type : {torch::kFloat32, torch::kFloat64, torch::kBFloat16})
      ExpectProduct(shape, type);
  }
  // Columns that lie whole pages apart.
  for (const auto type : {torch::kFloat32, torch::kBFloat16}) ExpectProduct({1024, 20, 9}, type);
}

TEST(PackedFactorTest, KernelsMakeThemOnEverySetWithVectors) {
  const bool vectors = SelectKernels().name != std::string("reference");
  const torch::Tensor x = torch::ones({1, 1});
  EXPECT_EQ(HasProductKernels(x, torch::kFloat32), vectors);
  EXPECT_EQ(HasProductKernels(x, torch::kBFloat16), vectors);
  EXPECT_TRUE(HasProductKernels(x.to(torch::kFloat64), torch::kFloat64));
}

TEST(PackedFactorTest, ShapesAndTypesThatDoNotFitAreErrors) {
  const torch::Tensor a = torch::ones({3, 4}), b = torch::ones({4, 5});
  for (const auto type : {torch::kFloat32, torch::kBFloat16}) {
    if (!HasProductKernels(a, type)) continue;
    const PackedFactor factor(b, type);
    const torch::Tensor result = torch::empty({3, 5});
    EXPECT_NO_THROW(factor.Multiply(a, result, torch::ones({5})));
    EXPECT_THROW(factor.Multiply(torch::ones({3, 3}), result), Error);
    EXPECT_THROW(factor.Multiply(torch::ones({4}), result), Error);
    EXPECT_THROW(factor.Multiply(a.to(torch::kFloat64), result), Error);
    EXPECT_THROW(factor.Multiply(a, torch::empty({2, 5})), Error);
    EXPECT_THROW(factor.Multiply(a, torch::empty({3, 4})), Error);
    EXPECT_THROW(factor.Multiply(a, torch::empty({5, 3}).t()), Error);
    EXPECT_THROW(factor.Multiply(a, result.to(torch::kFloat64)), Error);
    EXPECT_THROW(factor.Multiply(a, result, torch::ones({4})), Error);
  }
}

TEST(PackedFactorTest, ARowsBitsDoNotDependOnTheOthersNorOnThreads) {
  torch::manual_seed(2);
  const torch::Tensor a = torch::randn({700, 300}), b = torch::randn({300, 45});
  for (const auto type : {torch::kFloat32, torch::kBFloat16}) {
    if (!HasProductKernels(a, type)) continue;
    const PackedFactor factor(b, type);
    const auto product = [&](const torch::Tensor& rows) {
      torch::Tensor result = torch::empty({rows.size(0), b.size(1)});
      factor.Multiply(rows, result);
      return result;
    };
    const int threads = at::get_num_threads();
    at::set_num_threads(1);
    const torch::Tensor alone = product(a);
    at::set_num_threads(3);
    EXPECT_TRUE(torch::equal(product(a), alone));
    at::set_num_threads(threads);
    for (const int64_t first : {0, 1, 5, 256, 699}) {
      EXPECT_TRUE(torch::equal(product(a.slice(0, first)), alone.slice(0, first))) << first;
      EXPECT_TRUE(
          torch::equal(product(a.slice(0, first, first + 1)), alone.slice(0, first, first + 1)))
          << first;
    }
  }
}

// As LibTorch rounds: to nearest, ties to even, to infinity from half a step below it; NaN stays.
TEST(PackedFactorTest, NumbersAreRoundedToBf16AsLibTorchDoes) {
  const float infinity = std::numeric_limits<float>::infinity();
  const torch::Tensor x = torch::cat(
      {torch::tensor({0.0f, -0.0f, 1.0f, 1.00390625f, 1.01171875f, -1.00390625f, 1.2e-38f, 3.39e38f,
                      -3.4028e38f, infinity, -infinity, std::nanf("")}),
       torch::randn({200})});
  if (!HasProductKernels(x, torch::kBFloat16)) GTEST_SKIP() << "this set rounds with LibTorch";
  const torch::Tensor expected = x.to(torch::kBFloat16).to(torch::kFloat32).unsqueeze(1);
  torch::Tensor found = torch::empty_like(expected);
  PackedFactor(torch::ones({1, 1}), torch::kBFloat16).Multiply(x.unsqueeze(1), found);
  EXPECT_TRUE(torch::equal(found.nan_to_num(7, 8, 9), expected.nan_to_num(7, 8, 9)));
}

}  // namespace
}  // namespace attend::nn
