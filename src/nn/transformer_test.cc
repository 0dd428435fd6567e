#include "attend/nn/transformer.h"

#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attend/error.h"
#include "model/tensor_table.h"
#include "nn/test_models.h"

namespace attend::nn {
namespace {

// The norm of the difference over that of `b`.
double Distance(const torch::Tensor& a, const torch::Tensor& b) {
  return ((a - b).norm() / b.norm().clamp_min(1e-12)).item<double>();
}

torch::Tensor Hidden(Transformer& model, const torch::Tensor& source, const torch::Tensor& target,
                     Trace* trace = nullptr) {
  return model->config().decoder
             ? model->Hidden(source, target, trace)
             : model->Encode(source, trace != nullptr ? &trace->encoder : nullptr).hidden_BSD;
}

TEST(TransformerTest, ParametersAreThoseOfTheModelFile) {
  for (const auto& [name, config] : SmallModels()) {
    Transformer model(config);
    const auto parameters = model->named_parameters();
    const std::vector<TensorSpec> expected = ExpectedTensors(config);
    ASSERT_EQ(parameters.size(), expected.size()) << name;
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(parameters[i].key(), expected[i].name) << name;
      EXPECT_EQ(parameters[i].value().sizes(), at::IntArrayRef(expected[i].shape))
          << name << " " << expected[i].name;
    }
    EXPECT_EQ(model->named_buffers().size(), 0u) << name;
  }
}

TEST(TransformerTest, BaseHasAsManyParametersAsThePaperCallsFor) {
  ModelConfig config = PresetConfig("base");
  config.source_vocab_size = config.target_vocab_size = 37000;
  Transformer model(config);
  int64_t count = 0;
  for (const torch::Tensor& parameter : model->parameters()) count += parameter.numel();
  EXPECT_EQ(count, 63045632);
  EXPECT_EQ(count, ParameterCount(config));
}

TEST(TransformerTest, WeightsFollowFromTheSeedAndTheStatedDistributions) {
  ModelConfig config = SmallModels()["source_target_tied"];
  config.source_vocab_size = config.target_vocab_size = 500;
  Transformer a(config, Dropout{}, 7);
  torch::rand({5});  // what else was drawn does not matter
  Transformer b(config, Dropout{}, 7), c(config, Dropout{}, 8);
  for (size_t i = 0; i < a->parameters().size(); ++i) {
    EXPECT_TRUE(torch::equal(a->parameters()[i], b->parameters()[i]));
  }
  EXPECT_FALSE(torch::equal(a->OutputWeight(), c->OutputWeight()));
  for (const torch::Tensor& table : {a->OutputWeight(), a->DecoderEmbedding()}) {
    EXPECT_NEAR(table.std().item<double>(), 0.25, 0.01);  // 16^-0.5
    EXPECT_NEAR(table.mean().item<double>(), 0, 0.01);
  }
  const auto parameters = a->named_parameters();
  const torch::Tensor inner = parameters["encoder.layers.1.feed_forward.inner.weight"];
  const double bound = std::sqrt(6.0 / (16 + 24));
  EXPECT_LE(inner.abs().max().item<double>(), bound);
  EXPECT_GT(inner.abs().max().item<double>(), 0.95 * bound);
  EXPECT_NEAR(inner.std().item<double>(), bound / std::sqrt(3.0), 0.03);
  EXPECT_EQ(parameters["encoder.layers.1.feed_forward.inner.bias"].abs().max().item<double>(), 0);
  EXPECT_EQ(parameters["decoder.layers.0.cross_attention_norm.weight"].min().item<double>(), 1);
}

TEST(TransformerTest, PaddingAndTheFutureChangeNothing) {
  for (const auto& [name, config] : SmallModels()) {
    Transformer model(config);
    model->eval();
    torch::NoGradGuard no_grad;
    const torch::Tensor source = SmallIds(7, 1), target = SmallIds(6, 2);
    const torch::Tensor together = Hidden(model, source, target);
    for (int64_t i = 0; i < 3; ++i) {
      const torch::Tensor one_source = source[i].index({source[i] != 0}).unsqueeze(0);
      const torch::Tensor one_target = target[i].index({target[i] != 0}).unsqueeze(0);
      const torch::Tensor alone = Hidden(model, one_source, one_target);
      const torch::Tensor row = together[i].slice(0, 0, alone.size(1));
      EXPECT_LT(Distance(row, alone[0]), 1e-5) << name << " sentence " << i;
    }
    if (!config.decoder) continue;
    torch::Tensor changed = target.clone();
    changed.select(1, 4).fill_(9);
    const torch::Tensor after = Hidden(model, source, changed);
    EXPECT_TRUE(torch::equal(after.slice(1, 0, 4), together.slice(1, 0, 4))) << name;
    EXPECT_FALSE(torch::equal(after.select(1, 4)[0], together.select(1, 4)[0])) << name;
  }
}

// What LibTorch's kernels of attention are asked for, call by call.
class KernelCalls {
 public:
  KernelCalls() {
    calls.clear();
    handle_ = at::addThreadLocalCallback(
        at::RecordFunctionCallback(Note).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
  }
  ~KernelCalls() { at::removeCallback(handle_); }
  static inline std::vector<std::string> calls;

 private:
  static std::unique_ptr<at::ObserverContext> Note(const at::RecordFunction& function) {
    if (std::string(function.name()) == "aten::scaled_dot_product_attention") {
      const auto inputs = function.inputs();
      calls.push_back(inputs[5].toBool() ? "causal" : "all");
      if (!inputs[3].isNone()) calls.back() += " masked";
    }
    return nullptr;
  }
  at::CallbackHandle handle_;
};

// A GPU's fastest kernel takes no mask.
TEST(TransformerTest, OnlyPaddedSourcesNeedAMask) {
  Transformer model(SmallModel());  // two layers each
  const torch::Tensor padded = SmallIds(7, 1), full = SmallIds(7, 1, false);
  const auto calls = [&](const torch::Tensor& source, bool said_padded) {
    const KernelCalls kernel;
    const Memory memory = model->Encode(source, nullptr, said_padded);
    model->Decode(SmallIds(6, 2), memory);
    return kernel.calls;
  };
  const std::vector<std::string> unmasked = {"all", "all", "causal", "all", "causal", "all"};
  EXPECT_EQ(calls(full, true), unmasked);
  EXPECT_EQ(calls(padded, false), unmasked);  // the caller's word counts
  EXPECT_THAT(calls(padded, true), testing::ElementsAre("all masked", "all masked", "causal",
                                                        "all masked", "causal", "all masked"));
}

TEST(TransformerTest, AnEmptySourceGivesNumbersAndFiniteGradients) {
  for (const bool traced : {false, true}) {
    Transformer model(SmallModel(), Dropout{0, 0});
    torch::Tensor source = SmallIds(5, 1), target = SmallIds(5, 2);
    source[1].zero_();
    target[2].zero_();
    Trace trace;
    const torch::Tensor hidden = Hidden(model, source, target, traced ? &trace : nullptr);
    EXPECT_TRUE(hidden.isfinite().all().item<bool>());
    (hidden * torch::arange(16)).sum().backward();
    for (const auto& parameter : model->named_parameters()) {
      EXPECT_TRUE(parameter.value().grad().isfinite().all().item<bool>()) << parameter.key();
    }
    if (!traced) continue;
    EXPECT_EQ(trace.encoder.layers[0].self_weights_BHTT[1].abs().max().item<double>(), 0);
    EXPECT_EQ(trace.decoder.layers[1].cross_weights_BHTS[1].abs().max().item<double>(), 0);
  }
}

TEST(TransformerTest, TheTraceIsWhatWasComputed) {
  for (const auto& [name, config] : SmallModels()) {
    Transformer model(config);
    model->eval();
    const torch::Tensor source = SmallIds(7, 1), target = SmallIds(6, 2);
    Trace trace;
    const torch::Tensor traced = Hidden(model, source, target, &trace),
                        plain = Hidden(model, source, target);
    EXPECT_LT(Distance(traced, plain), 1e-5)
        << name;  // written-out attention against the fused kernel
    for (const StackTrace* stack : {&trace.encoder, &trace.decoder}) {
      const std::optional<StackConfig>& shape =
          stack == &trace.encoder ? config.encoder : config.decoder;
      ASSERT_EQ(static_cast<int64_t>(stack->layers.size()), shape ? shape->layers : 0) << name;
      if (!shape) continue;
      const int64_t length = stack == &trace.encoder ? 7 : 6;
      const std::vector<int64_t> stream = {3, length, 16};
      EXPECT_EQ(stack->embedded_BTD.sizes(), at::IntArrayRef(stream));
      EXPECT_EQ(stack->layers[0].feed_forward_BTD.sizes(), at::IntArrayRef(stream));
      const torch::Tensor weights = stack->layers.back().self_weights_BHTT;
      EXPECT_EQ(weights.defined(), shape->recurrence == Recurrence::kNone);
      if (!weights.defined()) continue;
      EXPECT_EQ(weights.sizes(), (at::IntArrayRef{3, 4, length, length}));
      // A query of padding may have nothing but padding within its window.
      const torch::Tensor words_B1T =
          ValidTokens(stack == &trace.encoder ? source : target, 0).unsqueeze(1);
      EXPECT_LT(((weights.sum(-1) - 1) * words_B1T).abs().max().item<double>(), 1e-5) << name;
      if (stack == &trace.decoder) {
        EXPECT_EQ(weights.triu(1).abs().max().item<double>(), 0);
      }
      EXPECT_EQ(stack->layers[0].cross_weights_BHTS.defined(),
                stack == &trace.decoder && config.encoder)
          << name;
    }
  }
}

TEST(TransformerTest, RefusesWhatItCannotDo) {
  Transformer model(SmallModels()["swiglu_learned_untied"]);
  EXPECT_THROW(model->Encode(SmallIds(41, 1)), Error);  // 40 learned positions
  TransformerEncoder encoder(SmallStack());
  EXPECT_THROW(encoder->Embed(SmallIds(5, 1)), Error);
  StackConfig odd = SmallStack();
  odd.heads = 3;
  EXPECT_THROW(Transformer model(SmallModel(odd)), Error);
}

}  // namespace
}  // namespace attend::nn
