// The layers' products beside LibTorch's.
#include "nn/linear.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nn/fused/packed_factor.h"

namespace attend::nn {
namespace {

using Tensors = std::vector<torch::Tensor>;

// The result and the gradients of all inputs.
Tensors PassThrough(const Tensors& inputs, bool own, const torch::Tensor& gradient) {
  const torch::Tensor bias = inputs.size() > 2 ? inputs[2] : torch::Tensor();
  const torch::Tensor result =
      own ? Linear(inputs[0], inputs[1], bias) : torch::linear(inputs[0], inputs[1], bias);
  Tensors pass = torch::autograd::grad({result}, inputs, {gradient.expand_as(result)});
  pass.push_back(result.detach());
  return pass;
}

TEST(LinearTest, EqualsLibTorchs) {
  constexpr int64_t kIn = 64, kOut = 40;
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    for (const std::vector<int64_t>& shape :
         {std::vector<int64_t>{1, kIn}, {100, kIn}, {0, kIn}, {5, 7, kIn}, {kIn}}) {
      for (const bool with_bias : {false, true}) {
        torch::manual_seed(1);
        Tensors inputs{torch::randn(shape, type).requires_grad_(),
                       torch::randn({kOut, kIn}, type).requires_grad_()};
        if (with_bias) inputs.push_back(torch::randn({kOut}, type).requires_grad_());
        std::vector<int64_t> of_result = shape;
        of_result.back() = kOut;
        // Whole ones, one for all rows as a sum over them has, one for all columns, and one number.
        for (const torch::Tensor& gradient :
             {torch::randn(of_result, type), torch::randn({kOut}, type), torch::randn({1}, type)}) {
          const Tensors found = PassThrough(inputs, true, gradient),
                        expected = PassThrough(inputs, false, gradient);
          const double tolerance = type == torch::kFloat64 ? 1e-12 : 1e-4;
          for (size_t i = 0; i < expected.size(); ++i) {
            EXPECT_TRUE(torch::allclose(found[i], expected[i], tolerance, tolerance))
                << type << " " << expected[i].sizes() << " " << i;
          }
        }
      }
    }
  }
}

TEST(LinearTest, IsMadeByKernelsWhereGradientsAreWanted) {
  torch::manual_seed(3);
  const torch::Tensor x = torch::randn({303, 301}).requires_grad_(),
                      weight = torch::randn({307, 301}).requires_grad_(),
                      gradient = torch::randn({303, 307});
  if (!HasProductKernels(x, torch::kFloat32)) GTEST_SKIP() << "this set multiplies with LibTorch";
  const Tensors found = PassThrough({x, weight}, true, gradient);
  const auto product = [](const torch::Tensor& a, const torch::Tensor& b) {
    const torch::Tensor result = torch::empty({a.size(0), b.size(1)});
    PackedFactor(b, torch::kFloat32).Multiply(a, result);
    return result;
  };
  const torch::NoGradGuard no_grad;
  const std::vector<std::pair<torch::Tensor, torch::Tensor>> factors{
      {gradient, weight}, {gradient.t(), x}, {x, weight.t()}};
  for (size_t i = 0; i < factors.size(); ++i) {
    const auto& [a, b] = factors[i];
    EXPECT_TRUE(torch::equal(found[i], product(a, b))) << i;
  }
  const torch::AutoGradMode with_gradients(true);
  EXPECT_THAT(Linear(x, weight, {}).grad_fn()->name(), testing::HasSubstr("LinearFunction"));
  EXPECT_THAT(torch::linear(x, weight).grad_fn()->name(),
              Not(testing::HasSubstr("LinearFunction")));
}

TEST(LinearTest, GradientsHaveGradients) {
  const auto second = [](bool own) {
    torch::manual_seed(2);
    const auto random = [](at::IntArrayRef shape) {
      return torch::randn(shape, torch::kFloat64).requires_grad_();
    };
    const Tensors inputs{random({9, 5}), random({4, 5}), random({4})};
    const torch::Tensor result = own ? Linear(inputs[0], inputs[1], inputs[2])
                                     : torch::linear(inputs[0], inputs[1], inputs[2]);
    torch::Tensor sum = torch::zeros({}, torch::kFloat64);
    for (const torch::Tensor& gradient :
         torch::autograd::grad({result.pow(3).sum()}, inputs, {}, /*retain_graph=*/true,
                               /*create_graph=*/true))
      sum = sum + gradient.square().sum();
    return torch::autograd::grad({sum}, inputs);
  };
  const Tensors found = second(true), expected = second(false);
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_TRUE(torch::allclose(found[i], expected[i], 1e-12, 1e-12)) << i;
}

// Layers of which some have adapters, as an attention's projections.
struct AdaptedLayers {
  AdaptedLayers(torch::ScalarType type, bool with_bias, const std::vector<bool>& adapted) {
    torch::manual_seed(4);
    int64_t out = 24;
    for (const bool with_adapter : adapted) {
      LinearLayer layer(kIn, out += 8, with_bias);
      layer->to(type);
      for (auto& parameter : layer->parameters()) parameter.set_requires_grad(false);
      if (with_adapter) {
        layer->AddAdapter({.rank = 3, .alpha = 5}, at::detail::createCPUGenerator(out));
        const torch::NoGradGuard no_grad;
        layer->adapter_b.normal_();
        factors.insert(factors.end(), {layer->adapter_a, layer->adapter_b});
      }
      layers.push_back(layer);
    }
  }
  // The formula, whose gradients are LibTorch's.
  torch::Tensor Plain(const torch::Tensor& x) const {
    Tensors parts;
    for (const LinearLayer& layer : layers) {
      torch::Tensor weight = layer->weight;
      if (layer->adapted())
        weight = weight + 5.0 / 3.0 * torch::matmul(layer->adapter_b, layer->adapter_a);
      parts.push_back(torch::matmul(x, weight.t()));
      if (layer->bias.defined()) parts.back() = parts.back() + layer->bias;
    }
    return torch::cat(parts, -1);
  }

  static constexpr int64_t kIn = 40;
  std::vector<LinearLayer> layers;
  Tensors factors;
};

TEST(LinearTest, AdaptersHaveTheGradientsOfTheFormula) {
  constexpr int64_t kIn = AdaptedLayers::kIn;
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    for (const bool with_bias : {false, true}) {
      for (const std::vector<bool>& adapted :
           {std::vector<bool>{true}, {true, false, true}, {false, true}, {true, true, true}}) {
        const AdaptedLayers some(type, with_bias, adapted);
        for (const std::vector<int64_t>& shape :
             {std::vector<int64_t>{90, kIn}, {1, kIn}, {0, kIn}, {5, 7, kIn}, {kIn}}) {
          const torch::Tensor x = torch::randn(shape, type).requires_grad_();
          Tensors inputs = some.factors;
          inputs.push_back(x);
          const torch::Tensor found = Linear(x, some.layers), expected = some.Plain(x);
          const torch::Tensor gradient = torch::randn_like(expected);
          Tensors of_found = torch::autograd::grad({found}, inputs, {gradient}),
                  of_expected = torch::autograd::grad({expected}, inputs, {gradient});
          of_found.push_back(found);
          of_expected.push_back(expected);
          const double tolerance = type == torch::kFloat64 ? 1e-11 : 1e-3;
          for (size_t i = 0; i < of_expected.size(); ++i) {
            EXPECT_TRUE(torch::allclose(of_found[i], of_expected[i], tolerance, tolerance))
                << type << " " << adapted.size() << " " << shape.size() << " " << i;
          }
          const torch::NoGradGuard no_grad;
          EXPECT_TRUE(torch::allclose(Linear(x, some.layers), expected, tolerance, tolerance));
        }
      }
    }
  }
}

TEST(LinearTest, AnAdapterBeginsWithNoChangeAndItsANeedsTheSeedAlone) {
  LinearLayer layer(16, 8, true);
  const torch::Tensor before = layer->weight.detach().clone();
  layer->AddAdapter({.rank = 2}, at::detail::createCPUGenerator(3));
  EXPECT_TRUE(layer->Weight().equal(before));
  EXPECT_EQ(layer->adapter_b.count_nonzero().item<int64_t>(), 0);
  LinearLayer other(16, 8, true);
  torch::manual_seed(77);
  other->AddAdapter({.rank = 2}, at::detail::createCPUGenerator(3));
  EXPECT_TRUE(layer->adapter_a.equal(other->adapter_a));
}

// Samples of a model are computed by other products than the engine's and training's.
TEST(LinearTest, IsLibTorchsWithoutGradients) {
  const torch::Tensor x = torch::randn({37, 301}), weight = torch::randn({29, 301});
  const torch::NoGradGuard no_grad;
  EXPECT_TRUE(torch::equal(Linear(x, weight, {}), torch::linear(x, weight)));
}

TEST(LinearTest, ShapesThatDoNotFitAreErrors) {
  const torch::Tensor x = torch::randn({3, 4}), weight = torch::randn({5, 6}).requires_grad_();
  EXPECT_ANY_THROW(Linear(x, weight, {}));
  EXPECT_ANY_THROW(Linear(x.unsqueeze(0), weight, {}));
  EXPECT_ANY_THROW(Linear(torch::ones({}), weight, {}));
}

}  // namespace
}  // namespace attend::nn
