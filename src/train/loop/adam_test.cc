#include "train/loop/adam.h"

#include <gtest/gtest.h>

#include <cmath>

#include "train/loop/parameters.h"

namespace attend {
namespace {

TEST(AdamTest, FollowsTheFormula) {
  // Kingma and Ba, algorithm 1, in f64; and decoupled weight decay.
  const AdamOptions options{.beta1 = 0.9, .beta2 = 0.98, .epsilon = 1e-9, .weight_decay = 0.01};
  torch::manual_seed(3);
  torch::Tensor weights = torch::randn({257});
  torch::Tensor expected = weights.to(torch::kFloat64), first = torch::zeros_like(expected),
                second = torch::zeros_like(expected);
  AdamState state = MakeAdamState(weights);
  for (int step = 1; step <= 20; ++step) {
    const torch::Tensor gradients = torch::randn({257});
    const double learning_rate = 0.01 * step;
    AdamStep(options, learning_rate, gradients, &weights, &state);
    const torch::Tensor g = gradients.to(torch::kFloat64);
    first = options.beta1 * first + (1 - options.beta1) * g;
    second = options.beta2 * second + (1 - options.beta2) * g * g;
    const torch::Tensor corrected_first = first / (1 - std::pow(options.beta1, step));
    const torch::Tensor corrected_second = second / (1 - std::pow(options.beta2, step));
    expected = expected * (1 - learning_rate * options.weight_decay) -
               learning_rate * corrected_first / (corrected_second.sqrt() + options.epsilon);
  }
  EXPECT_LT((weights - expected).norm().item<double>() / expected.norm().item<double>(), 1e-5);
  EXPECT_EQ(state.steps, 20);
}

TEST(AdamTest, ADecisionClipsOrSkips) {
  const AdamOptions options{.weight_decay = 0.01};
  const torch::Tensor gradients = torch::full({20}, 3.0f), yes = torch::tensor({true, true});
  const torch::Tensor norm = torch::tensor(12.0, torch::kFloat64);
  const auto step = [&](double clip_norm, const torch::Tensor& finite, bool on_device) {
    torch::Tensor weights = torch::ones({20}), own = gradients.clone(), average = weights.clone();
    AdamState state = MakeAdamState(weights);
    StepDecision decision;
    if (on_device) {
      decision = DecideStep(norm, clip_norm, finite);
    } else {
      ClipGradients(12, clip_norm, &own);
    }
    AdamStep(options, 0.1, own, &weights, &state, decision);
    UpdateEma(0.9, 1, weights, &average, decision);
    return torch::stack({weights, average, state.first_moment, state.second_moment});
  };
  for (const double clip_norm : {0.0, 4.0, 100.0})
    EXPECT_TRUE(torch::allclose(step(clip_norm, yes, true), step(clip_norm, yes, false), 1e-6, 0));
  const torch::Tensor skipped = step(4, torch::tensor({true, false}), true);
  EXPECT_TRUE(skipped.slice(0, 0, 2).eq(1).all().item<bool>());
  EXPECT_TRUE(skipped.slice(0, 2).eq(0).all().item<bool>());
}

TEST(AdamTest, ClipsToTheNormAndNotBelow) {
  torch::Tensor gradients = torch::tensor({3.0f, 4.0f});
  ClipGradients(5, 10, &gradients);
  EXPECT_TRUE(gradients.equal(torch::tensor({3.0f, 4.0f})));
  ClipGradients(5, 0, &gradients);
  EXPECT_TRUE(gradients.equal(torch::tensor({3.0f, 4.0f})));
  ClipGradients(5, 1, &gradients);
  EXPECT_NEAR(gradients.norm().item<double>(), 1, 1e-6);
}

TEST(AdamTest, MovingAverageFollowsTheFormula) {
  torch::Tensor average = torch::tensor({1.0f});
  double expected = 1;
  for (int64_t update = 1; update <= 200; ++update) {
    const double weight = std::sin(static_cast<double>(update));
    UpdateEma(0.95, update, torch::tensor({static_cast<float>(weight)}), &average);
    const double decay = std::min(0.95, (1.0 + update) / (10.0 + update));
    expected = decay * expected + (1 - decay) * weight;
  }
  EXPECT_NEAR(average.item<double>(), expected, 1e-5);
  EXPECT_DOUBLE_EQ(EmaDecay(0.95, 1), 2.0 / 11);
  EXPECT_DOUBLE_EQ(EmaDecay(0.95, 100000), 0.95);
}

TEST(ParametersTest, ModuleAndFlatBufferAreOne) {
  torch::nn::Linear linear(3, 5);
  const torch::Tensor before = linear->weight.detach().clone();
  Parameters parameters(linear.get());
  EXPECT_TRUE(linear->weight.equal(before));
  ASSERT_EQ(parameters.tensors().size(), 2u);
  EXPECT_TRUE(parameters.tensors()[0].is_same(linear->weight));
  {
    const torch::NoGradGuard no_grad;
    parameters.weights().fill_(2);
  }
  EXPECT_EQ(linear->forward(torch::ones({1, 3})).sum().item<float>(), 5 * (3 * 2 + 2));
}

TEST(ParametersTest, NamesTheFirstGradientThatIsNotFinite) {
  torch::nn::Linear linear(3, 5);
  Parameters parameters(linear.get());
  EXPECT_EQ(parameters.FirstNonFiniteGradient(), "");
  const auto gradient = [&](size_t i) {
    return FlatLayout::View(parameters.gradients(), parameters.layout().entries[i]);
  };
  gradient(1)[1] = std::nan("");
  EXPECT_EQ(parameters.FirstNonFiniteGradient(), "bias");
  gradient(0)[0][0] = INFINITY;
  EXPECT_EQ(parameters.FirstNonFiniteGradient(), "weight");
}

TEST(ParametersTest, TableKeepsNamesAndShapes) {
  torch::nn::Linear linear(3, 5), other(3, 5);
  Parameters parameters(linear.get()), others(other.get());
  TensorTable table;
  parameters.layout().AddTo(&table, parameters.weights(), "p.");
  EXPECT_EQ(table.Get("p.weight").shape, (std::vector<int64_t>{5, 3}));
  others.layout().Read(table, "p.", &others.weights());
  EXPECT_TRUE(other->weight.equal(linear->weight) && other->bias.equal(linear->bias));
}

}  // namespace
}  // namespace attend
