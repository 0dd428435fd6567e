// Gradients of every layer against central differences in f64.
#include <gtest/gtest.h>

#include "attend/nn/masks.h"
#include "attend/nn/transformer.h"
#include "nn/test_models.h"

namespace attend::nn {
namespace {

const auto kDouble = torch::TensorOptions().dtype(torch::kFloat64);

// Checks d loss by each tensor along a random direction; what rounding leaves is far below 1e-6
// of the norm.
void CheckDirections(const std::function<torch::Tensor()>& output,
                     const std::vector<torch::Tensor>& inputs, const std::string& what) {
  const torch::Tensor weights = torch::randn_like(output()).detach();
  const auto loss = [&] { return (output() * weights).sum(); };
  const auto gradients = torch::autograd::grad({loss()}, inputs);
  torch::NoGradGuard no_grad;
  constexpr double kStep = 1e-6;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const torch::Tensor& input = inputs[i];
    const torch::Tensor direction = torch::randn_like(input), value = input.clone();
    input.copy_(value + kStep * direction);
    const double above = loss().item<double>();
    input.copy_(value - kStep * direction);
    const double below = loss().item<double>();
    input.copy_(value);
    const double found = (gradients[i] * direction).sum().item<double>();
    EXPECT_NEAR(found, (above - below) / (2 * kStep),
                1e-6 * (1 + gradients[i].norm().item<double>()))
        << what << ", input " << i << " of shape " << input.sizes();
  }
}

torch::Tensor Input(at::IntArrayRef shape) { return torch::randn(shape, kDouble).requires_grad_(); }

// A mask [2, 1, 3, 4] with one query that sees nothing.
torch::Tensor MaskWithEmptyRow() {
  torch::Tensor allowed = torch::ones({2, 1, 3, 4}, torch::kBool);
  allowed[0][0][1].zero_();
  allowed[1].slice(-1, 3).zero_();
  return MaskFromAllowed(allowed, torch::kFloat64);
}

template <class Module>
std::vector<torch::Tensor> ParametersAnd(Module& module, std::vector<torch::Tensor> inputs) {
  module->to(torch::kFloat64);
  for (const torch::Tensor& parameter : module->parameters()) inputs.push_back(parameter);
  return inputs;
}

TEST(GradientsTest, ScaledDotProductAttention) {
  torch::manual_seed(1);
  ScaledDotProductAttention attention;
  const torch::Tensor mask = MaskWithEmptyRow();
  for (const int64_t value_width : {5, 7}) {
    const torch::Tensor query = Input({2, 2, 3, 5}), key = Input({2, 2, 4, 5}),
                        value = Input({2, 2, 4, value_width});
    const auto plain = [&] { return attention(query, key, value, mask).output_BHTV; };
    const auto fused = [&] { return attention->Output(query, key, value, mask); };
    EXPECT_TRUE(torch::allclose(plain(), fused(), 1e-12, 1e-12));
    EXPECT_EQ(plain()[0].select(1, 1).abs().max().item<double>(), 0);
    EXPECT_EQ(fused()[0].select(1, 1).abs().max().item<double>(), 0);
    CheckDirections(plain, {query, key, value}, "plain");
    CheckDirections(fused, {query, key, value}, "fused");
    for (const torch::Tensor& output : {plain(), fused()}) {
      const torch::Tensor gradient = torch::autograd::grad({output.square().sum()}, {query})[0];
      EXPECT_EQ(gradient[0].select(1, 1).abs().max().item<double>(),
                0);  // the query that sees nothing
    }
  }
}

TEST(GradientsTest, MultiHeadAttention) {
  torch::manual_seed(2);
  for (const bool bias : {false, true}) {
    StackConfig config = SmallStack();
    config.attention_bias = bias;
    config.d_v = bias ? 3 : 0;
    MultiHeadAttention attention(config);
    const torch::Tensor query = Input({2, 3, 16}), memory = Input({2, 4, 16});
    CheckDirections([&] { return attention(query, memory, MaskWithEmptyRow()); },
                    ParametersAnd(attention, {query, memory}), "cross");
    const torch::Tensor causal = CausalMask(3, kDouble);
    CheckDirections([&] { return attention(query, query, causal); },
                    ParametersAnd(attention, {query}), "self");
    torch::Tensor weights;
    CheckDirections([&] { return attention(query, query, causal, &weights); },
                    ParametersAnd(attention, {query}), "traced");
  }
}

TEST(GradientsTest, PositionwiseFeedForward) {
  torch::manual_seed(3);
  for (const Activation activation : {Activation::kRelu, Activation::kGelu, Activation::kSwiGlu}) {
    StackConfig config = SmallStack();
    config.activation = activation;
    PositionwiseFeedForward feed_forward(config);
    const torch::Tensor input = Input({2, 3, 16});
    CheckDirections([&] { return feed_forward(input); }, ParametersAnd(feed_forward, {input}),
                    "activation " + std::to_string(static_cast<int>(activation)));
  }
}

TEST(GradientsTest, LayersAndPositions) {
  torch::manual_seed(4);
  for (const NormPlace place : {NormPlace::kPost, NormPlace::kPre}) {
    StackConfig config = SmallStack();
    config.norm_place = place;
    EncoderLayer encoder_layer(config, Dropout{0, 0});
    DecoderLayer decoder_layer(config, Dropout{0, 0});
    const torch::Tensor x = Input({2, 3, 16}), memory = Input({2, 4, 16});
    CheckDirections([&] { return encoder_layer(x); }, ParametersAnd(encoder_layer, {x}),
                    "encoder layer");
    const torch::Tensor causal = CausalMask(3, kDouble);
    CheckDirections([&] { return decoder_layer(x, causal, Memory{memory, MaskWithEmptyRow()}); },
                    ParametersAnd(decoder_layer, {x, memory}), "decoder layer");
  }
  LearnedPositionalEncoding learned(6, 16, 2);
  SinusoidalPositionalEncoding sinusoidal(16);
  const torch::Tensor x = Input({2, 3, 16});
  CheckDirections([&] { return learned(x).square(); }, ParametersAnd(learned, {x}),
                  "learned positions");
  CheckDirections([&] { return sinusoidal(x).square(); }, {x}, "sinusoids");
}

TEST(GradientsTest, WholeModels) {
  torch::manual_seed(5);
  for (const auto& [name, config] : SmallModels()) {
    Transformer model(config, Dropout{0, 0});
    const std::vector<torch::Tensor> parameters = ParametersAnd(model, {});
    const torch::Tensor source = SmallIds(6, 1), target = SmallIds(5, 2);
    CheckDirections(
        [&] { return config.decoder ? model(source, target) : model->Encode(source).hidden_BSD; },
        parameters, name);
  }
}

}  // namespace
}  // namespace attend::nn
