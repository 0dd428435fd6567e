// Training with products in bf16 beside f32: losses and gradients, of packed rows and of padded
// ones.
#include "nn/bf16_products.h"

#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <thread>

#include "attend/nn/loss.h"
#include "attend/nn/transformer.h"
#include "nn/linear.h"
#include "nn/test_models.h"

namespace attend::nn {
namespace {

// The loss and its gradients by all parameters.
using Pass = std::vector<torch::Tensor>;

Pass Train(Transformer& model, bool padded, bool bf16) {
  const torch::Tensor source = SmallIds(9, 1), target = SmallIds(8, 2), next = SmallIds(8, 3);
  const torch::Tensor is_target = target != 0;
  LabelSmoothingLoss loss(0.1, model->config().special_ids.pad);
  torch::Tensor sum;
  {
    const Bf16Products products(torch::kCPU, bf16);
    const torch::Tensor hidden_RD =
        padded ? model->Hidden(source, target).index({is_target})
               : model->PackedHidden(PackSentences(source, 0, 3), PackSentences(target, 0, 3));
    sum = loss->FromHidden(hidden_RD, model->OutputWeight(), model->OutputBias(),
                           next.index({is_target}))
              .loss;
  }
  Pass pass = torch::autograd::grad({sum}, model->parameters());
  pass.insert(pass.begin(), sum.detach());
  return pass;
}

double RelativeDistance(const Pass& found, const Pass& expected) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(found[i].scalar_type(), torch::kFloat32);
    difference += (found[i] - expected[i]).square().sum().item<double>();
    norm += expected[i].square().sum().item<double>();
  }
  return std::sqrt(difference / norm);
}

TEST(Bf16ProductsTest, LossesAndGradientsAreThoseOfF32WithinTheRounding) {
  for (const auto& [name, config] : SmallModels()) {
    if (!config.encoder || !config.decoder) continue;
    Transformer model(config, Dropout{0, 0});
    for (const bool padded : {false, true}) {
      const Pass exact = Train(model, padded, false), rounded = Train(model, padded, true);
      EXPECT_NEAR(rounded[0].item<double>() / exact[0].item<double>(), 1, 0.005) << name;
      const Pass gradients(exact.begin() + 1, exact.end());
      const double distance = RelativeDistance({rounded.begin() + 1, rounded.end()}, gradients);
      // Of models as small, PyTorch's autocast leaves 0.01 to 0.07.
      EXPECT_LT(distance, 0.1) << name << " padded " << padded;
      EXPECT_GT(distance, 0.0005) << name << " padded " << padded;  // something was rounded
    }
    // Rows with and without padding are the same model.
    EXPECT_LT(RelativeDistance(Train(model, true, true), Train(model, false, true)), 0.1) << name;
  }
}

// But for what autocast makes of LibTorch's own products.
TEST(Bf16ProductsTest, ResultsOfProductsStayInF32) {
  Transformer model(SmallModels().at("post_norm"), Dropout{0, 0});
  const torch::Tensor x = torch::randn({7}), weight = torch::randn({5, 7});
  const Bf16Products products(torch::kCPU, true);
  EXPECT_EQ(model(SmallIds(4, 1), SmallIds(5, 2)).scalar_type(), torch::kFloat32);
  const torch::Tensor found = Linear(x, weight, {});
  EXPECT_EQ(found.scalar_type(), torch::kFloat32);
  EXPECT_EQ(found.sizes(), (std::vector<int64_t>{5}));
}

// A loss and its gradients in bf16 beside f32.
void ExpectRounded(const std::function<torch::Tensor()>& loss,
                   const std::vector<torch::Tensor>& inputs, double tolerance) {
  std::vector<Pass> passes;
  for (const bool bf16 : {false, true}) {
    const Bf16Products products(torch::kCPU, bf16);
    const torch::Tensor sum = loss();
    passes.push_back(torch::autograd::grad({sum}, inputs));
    passes.back().push_back(sum.detach());
  }
  for (size_t i = 0; i < passes[0].size(); ++i) {
    EXPECT_LT(RelativeDistance({passes[1][i]}, {passes[0][i]}), tolerance) << i;
    EXPECT_FALSE(torch::equal(passes[1][i], passes[0][i])) << i;
  }
}

// More rows than logits are made of at a time, and no multiple of that.
TEST(Bf16ProductsTest, LossesOfHiddenStatesAreThoseOfF32WithinTheRounding) {
  constexpr int64_t kWidth = 24, kClasses = 40;
  LabelSmoothingLoss loss(0.1, /*pad_id=*/-1);
  torch::manual_seed(4);
  const auto random = [](at::IntArrayRef shape) { return torch::randn(shape).requires_grad_(); };
  const torch::Tensor hidden = random({300, kWidth}), weight = random({kClasses, kWidth}),
                      bias = random({kClasses}),
                      targets = torch::randint(kClasses, {300}, torch::kInt64);
  ExpectRounded([&] { return loss->FromHidden(hidden, weight, bias, targets).loss; },
                {hidden, weight, bias}, 0.01);
  const torch::Tensor first = random({150, kWidth}), second = random({150, kWidth}),
                      halved = targets.slice(0, 0, 150);
  ExpectRounded([&] { return loss->FromTwoPasses({first, second}, weight, bias, halved, 5).loss; },
                {first, second, weight, bias}, 0.02);
}

// As the student's do: a copy of the teacher has nothing to learn from it.
TEST(Bf16ProductsTest, ATeachersLogitsStayInF32) {
  torch::manual_seed(4);
  const torch::Tensor hidden_RD = 8 * torch::randn({20, 16}), weight_VD = torch::randn({30, 16}),
                      targets_R = torch::arange(1, 21);
  const Bf16Products products(torch::kCPU, true);
  LabelSmoothingLoss loss(0.1, 0);
  const LossSums sums = loss->FromTeacher(hidden_RD, weight_VD, {}, targets_R,
                                          {hidden_RD, weight_VD, {}, /*share=*/1, 1});
  EXPECT_NEAR(sums.loss.item<double>(), 0, 1e-4);
}

// Rows of every number, in sentences too.
TEST(Bf16ProductsTest, ALinearMapIsThatOfF32WithinTheRounding) {
  constexpr int64_t kIn = 24, kOut = 40;
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{1, kIn}, {16, kIn}, {37, kIn}, {300, kIn}, {5, 7, kIn}, {0, kIn}}) {
    for (const bool with_bias : {false, true}) {
      torch::manual_seed(5);
      std::vector<torch::Tensor> inputs = {torch::randn(shape).requires_grad_(),
                                           torch::randn({kOut, kIn}).requires_grad_()};
      if (with_bias) inputs.push_back(torch::randn(kOut).requires_grad_());
      const torch::Tensor bias = with_bias ? inputs[2] : torch::Tensor();
      const torch::Tensor exact = torch::linear(inputs[0], inputs[1], bias);
      const torch::Tensor gradient = torch::randn_like(exact);
      Pass expected = torch::autograd::grad({exact}, inputs, {gradient});
      expected.push_back(exact.detach());
      torch::Tensor rounded;
      {
        const Bf16Products products(torch::kCPU, true);
        rounded = Linear(inputs[0], inputs[1], bias);
      }
      Pass found = torch::autograd::grad({rounded}, inputs, {gradient});
      found.push_back(rounded.detach());
      for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(found[i].sizes(), expected[i].sizes());
        if (exact.numel() == 0) {
          EXPECT_EQ(found[i].count_nonzero().item<int64_t>(), 0) << i;
          continue;
        }
        EXPECT_LT(RelativeDistance({found[i]}, {expected[i]}), 0.01) << exact.sizes() << " " << i;
      }
    }
  }
}

// Which autocast leaves alone.
TEST(Bf16ProductsTest, F64StaysF64) {
  const torch::Tensor x = torch::randn({3, 4}, torch::kFloat64),
                      weight = torch::randn({5, 4}, torch::kFloat64);
  const Bf16Products products(torch::kCPU, true);
  EXPECT_TRUE(torch::allclose(Linear(x, weight, {}), torch::linear(x, weight), 1e-14, 1e-15));
}

TEST(Bf16ProductsTest, GradientsOfALinearMapAreRoundedWithCreateGraphToo) {
  const torch::Tensor x = torch::randn({20, 60}).requires_grad_(),
                      weight = torch::randn({30, 60}).requires_grad_(),
                      factor = torch::randn({20, 30});
  torch::Tensor sum;
  {
    const Bf16Products products(torch::kCPU, true);
    sum = (Linear(x, weight, {}) * factor).sum();
  }
  const Pass alone = torch::autograd::grad({sum}, {x, weight}, {}, /*retain_graph=*/true);
  const Pass with_graph = torch::autograd::grad({sum}, {x, weight}, {}, /*retain_graph=*/true,
                                                /*create_graph=*/true);
  const torch::NoGradGuard no_grad;
  const Pass exact = {torch::mm(factor, weight), torch::mm(factor.t(), x)};
  EXPECT_LT(RelativeDistance(with_graph, alone), 0.003);  // LibTorch rounds results too
  EXPECT_GT(RelativeDistance(alone, exact), 0.001);
  EXPECT_GT(RelativeDistance(with_graph, exact), 0.001);
}

// Gradients of what is asked for alone, as torch::linear's.
TEST(Bf16ProductsTest, ALinearMapOfAFrozenWeightHasTheGradientOfItsInput) {
  const torch::Tensor x = torch::randn({20, 6}).requires_grad_(), weight = torch::randn({8, 6});
  const Bf16Products products(torch::kCPU, true);
  const torch::Tensor found = torch::autograd::grad({Linear(x, weight, {}).sum()}, {x})[0];
  EXPECT_TRUE(torch::allclose(found, weight.sum(0).expand({20, 6}), 0.02, 0.1));
}

TEST(Bf16ProductsTest, BitsRepeatAndDoNotDependOnOtherThreads) {
  Transformer model(SmallModel(), Dropout{0, 0});
  const Pass alone = Train(model, false, true);
  std::vector<Pass> together(3);
  std::vector<std::thread> threads;
  for (Pass& pass : together) threads.emplace_back([&] { pass = Train(model, false, true); });
  for (std::thread& thread : threads) thread.join();
  for (const Pass& pass : together) {
    for (size_t i = 0; i < alone.size(); ++i) EXPECT_TRUE(torch::equal(pass[i], alone[i])) << i;
  }
}

TEST(Bf16ProductsTest, LastWhileTheyLiveInTheirThread) {
  const torch::Tensor x = torch::randn({3, 4}), weight = torch::randn({5, 4});
  const auto type = [&] { return torch::linear(x, weight).scalar_type(); };
  {
    const Bf16Products off(torch::kCPU, false);
    EXPECT_EQ(type(), torch::kFloat32);
  }
  {
    const Bf16Products on(torch::kCPU, true);
    EXPECT_EQ(type(), torch::kBFloat16);
    EXPECT_EQ(ProductType(x), torch::kBFloat16);
    EXPECT_FALSE(at::autocast::is_autocast_cache_enabled());
    torch::ScalarType elsewhere = torch::kBFloat16;
    std::thread([&] { elsewhere = type(); }).join();
    EXPECT_EQ(elsewhere, torch::kFloat32);
  }
  EXPECT_EQ(type(), torch::kFloat32);
  EXPECT_EQ(ProductType(x), torch::kFloat32);
  EXPECT_TRUE(at::autocast::is_autocast_cache_enabled());
}

}  // namespace
}  // namespace attend::nn
