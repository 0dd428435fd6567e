// The recurrent and the convolutional model against LibTorch's own modules, and the steps of every
// model against its whole pass.
#include <gtest/gtest.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/rnn.h>

#include "attend/error.h"
#include "attend/nn/convolutional_model.h"
#include "attend/nn/loss.h"
#include "attend/nn/recurrent_model.h"
#include "attend/nn/sequence_model.h"
#include "model/tensor_table.h"
#include "nn/bf16_products.h"
#include "nn/test_models.h"

namespace attend::nn {
namespace {

const auto kDouble = torch::TensorOptions().dtype(torch::kFloat64);

ModelConfig Rival(Architecture architecture) {
  ModelConfig config = PresetConfig(PresetOf(architecture));
  config.architecture = architecture;
  config.source_vocab_size = config.target_vocab_size = 30;
  for (StackConfig* stack : {&*config.encoder, &*config.decoder}) {
    stack->d_model = 16;
    stack->layers = 3;
    if (architecture == Architecture::kConvolution) stack->max_positions = 20;
  }
  return config;
}

std::map<std::string, ModelConfig> Rivals() {
  std::map<std::string, ModelConfig> models;
  for (const Architecture architecture :
       {Architecture::kLstm, Architecture::kGru, Architecture::kConvolution})
    models[ArchitectureName(architecture)] = Rival(architecture);
  models["lstm of two heads, untied"] = Rival(Architecture::kLstm);
  ModelConfig& lstm = models["lstm of two heads, untied"];
  lstm.encoder->heads = lstm.decoder->heads = 2;
  lstm.decoder->attention_bias = lstm.encoder->scale_embedding = true;
  lstm.tie_source_target = lstm.tie_target_output = false;
  lstm.head_bias = true;
  models["convolution of other widths"] = Rival(Architecture::kConvolution);
  ModelConfig& convolution = models["convolution of other widths"];
  convolution.encoder->kernel_width = 5;
  convolution.decoder->kernel_width = 2;
  convolution.decoder->positions = PositionKind::kSinusoidal;
  convolution.encoder->layers = 1;
  models["separable convolution"] = Rival(Architecture::kConvolution);
  for (StackConfig* stack :
       {&*models["separable convolution"].encoder, &*models["separable convolution"].decoder})
    stack->separable = true;
  return models;
}

PackedIds Sentences(const std::vector<std::vector<int64_t>>& sentences) {
  std::vector<int64_t> ids, places, offsets{0};
  PackedIds packed;
  for (const auto& sentence : sentences) {
    for (size_t i = 0; i < sentence.size(); ++i) places.push_back(static_cast<int64_t>(i));
    ids.insert(ids.end(), sentence.begin(), sentence.end());
    offsets.push_back(std::ssize(ids));
    packed.longest = std::max(packed.longest, std::ssize(sentence));
  }
  packed.ids_R = torch::tensor(ids);
  packed.positions_R = torch::tensor(places);
  packed.offsets_B1 = torch::tensor(offsets);
  return packed;
}

const std::vector<std::vector<int64_t>> kSources = {{5, 6, 7, 8, 3}, {9, 3}, {10, 11, 12, 3}};
const std::vector<std::vector<int64_t>> kTargets = {{2, 14, 15}, {2, 16, 17, 18, 19}, {2}};

// Largest difference over the largest value.
double Distance(const torch::Tensor& a, const torch::Tensor& b) {
  return ((a - b).abs().max() / b.abs().max().clamp_min(1e-12)).item<double>();
}

TEST(RivalsTest, ParametersAreThoseOfTheModelFile) {
  for (const auto& [name, config] : Rivals()) {
    const auto parameters = MakeSequenceModel(config)->named_parameters();
    const std::vector<TensorSpec> expected = ExpectedTensors(config);
    ASSERT_EQ(parameters.size(), expected.size()) << name;
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(parameters[i].key(), expected[i].name) << name;
      EXPECT_EQ(parameters[i].value().sizes(), at::IntArrayRef(expected[i].shape))
          << name << " " << expected[i].name;
    }
  }
}

template <class Theirs>
void CheckLayer(Architecture cell, Theirs theirs) {
  RecurrentLayer layer(cell, 5, 7);
  layer->to(torch::kFloat64);
  theirs->to(torch::kFloat64);
  const std::vector<torch::Tensor> own = {layer->weight_input, layer->weight_hidden,
                                          layer->bias_input, layer->bias_hidden};
  const std::vector<torch::Tensor> given = theirs->parameters();
  {
    const torch::NoGradGuard no_grad;
    for (size_t i = 0; i < own.size(); ++i) own[i].copy_(given[i]);
  }
  const torch::Tensor x = torch::randn({6, 3, 5}, kDouble).requires_grad_(),
                      weights = torch::randn({6, 3, 7}, kDouble);
  torch::Tensor state;
  const torch::Tensor found = layer(x, &state), expected = std::get<0>(theirs->forward(x));
  EXPECT_LT(Distance(found, expected), 1e-12);
  EXPECT_TRUE(torch::equal(state.narrow(1, 0, 7), found[-1]));
  std::vector<torch::Tensor> inputs = own, their_inputs = given;
  inputs.push_back(x);
  their_inputs.push_back(x);
  const auto gradients = torch::autograd::grad({(found * weights).sum()}, inputs),
             their_gradients = torch::autograd::grad({(expected * weights).sum()}, their_inputs);
  for (size_t i = 0; i < inputs.size(); ++i)
    EXPECT_LT(Distance(gradients[i], their_gradients[i]), 1e-10) << i;
}

TEST(RivalsTest, ARecurrentLayerIsLibTorchs) {
  torch::manual_seed(1);
  CheckLayer(Architecture::kLstm, torch::nn::LSTM(5, 7));
  CheckLayer(Architecture::kGru, torch::nn::GRU(5, 7));
}

TEST(RivalsTest, AConvolutionIsLibTorchs) {
  torch::manual_seed(1);
  const PackedIds ids = Sentences(kSources);
  for (const int64_t before : {1, 2}) {  // the middle of three tokens, or the last
    GatedConvolution own(4, 3, 0);
    own->to(torch::kFloat64);
    torch::nn::Conv1d theirs(torch::nn::Conv1dOptions(4, 8, 3));
    theirs->to(torch::kFloat64);
    {
      const torch::NoGradGuard no_grad;
      // [2 D, D, width] to the windows' order.
      own->weight.copy_(theirs->weight.transpose(1, 2).flatten(1));
      own->bias.copy_(theirs->bias);
    }
    const torch::Tensor x_RD = torch::randn({11, 4}, kDouble);
    const torch::Tensor found_RD = own(Windows(ids, 3, before).Of(x_RD));
    for (size_t b = 0; b < kSources.size(); ++b) {
      const int64_t begin = ids.offsets_B1[b].item<int64_t>(), length = std::ssize(kSources[b]);
      const torch::Tensor alone = torch::constant_pad_nd(
          x_RD.narrow(0, begin, length).t().unsqueeze(0), {before, 2 - before});
      const torch::Tensor expected_DT = torch::glu(theirs(alone), 1).squeeze(0);
      EXPECT_LT(Distance(found_RD.narrow(0, begin, length), expected_DT.t()), 1e-12) << b;
    }
  }
}

TEST(RivalsTest, ASeparableConvolutionIsLibTorchs) {
  torch::manual_seed(1);
  GatedConvolution own(4, 3, 0, /*separable=*/true);
  own->to(torch::kFloat64);
  torch::nn::Conv1d columns(torch::nn::Conv1dOptions(4, 4, 3).groups(4).bias(false)),
      product(torch::nn::Conv1dOptions(4, 8, 1));
  columns->to(torch::kFloat64);
  product->to(torch::kFloat64);
  {
    const torch::NoGradGuard no_grad;
    own->columns.copy_(columns->weight.squeeze(1).t());
    own->weight.copy_(product->weight.squeeze(2));
    own->bias.copy_(product->bias);
  }
  const PackedIds ids = Sentences({{1, 2, 3, 4, 5}});
  const torch::Tensor x_RD = torch::randn({5, 4}, kDouble);
  const torch::Tensor alone = torch::constant_pad_nd(x_RD.t().unsqueeze(0), {1, 1});
  const torch::Tensor expected = torch::glu(product(columns(alone)), 1).squeeze(0).t(),
                      found = own(Windows(ids, 3, 1).Of(x_RD));
  EXPECT_LT(Distance(found, expected), 1e-12);
  const torch::Tensor weights = torch::randn({5, 4}, kDouble);
  const auto gradient = torch::autograd::grad({(found * weights).sum()}, {own->columns})[0],
             theirs = torch::autograd::grad({(expected * weights).sum()}, {columns->weight})[0];
  EXPECT_LT(Distance(gradient, theirs.squeeze(1).t()), 1e-12);
}

TEST(RivalsTest, TheFirstLayerReadsBothWays) {
  torch::manual_seed(1);
  ModelConfig config = Rival(Architecture::kLstm);
  config.encoder->layers = 1;
  RecurrentModelImpl model(config, {}, 3);
  model.eval();
  const torch::NoGradGuard no_grad;
  torch::nn::LSTM theirs(torch::nn::LSTMOptions(16, 8).bidirectional(true));
  const auto copy = [&](const std::string& suffix, const RecurrentLayer& from) {
    auto own = from->parameters();
    const auto named = theirs->named_parameters();
    const char* const names[] = {"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"};
    for (size_t i = 0; i < own.size(); ++i) named[names[i] + suffix].copy_(own[i]);
  };
  copy("", model.encoder->forward_layer);
  copy("_reverse", model.encoder->backward_layer);
  const PackedIds ids = Sentences(kSources);
  const torch::Tensor embedded_RD = model.encoder->Embed(ids),
                      found_RD = model.encoder->forward(ids, nullptr);
  for (size_t b = 0; b < kSources.size(); ++b) {
    const int64_t begin = ids.offsets_B1[b].item<int64_t>(), length = std::ssize(kSources[b]);
    const torch::Tensor expected =
        std::get<0>(theirs->forward(embedded_RD.narrow(0, begin, length).unsqueeze(1))).squeeze(1);
    EXPECT_LT(Distance(found_RD.narrow(0, begin, length), expected), 1e-5) << b;
  }
}

TEST(RivalsTest, SentencesDoNotTouchEachOther) {
  for (const auto& [name, config] : Rivals()) {
    const auto model = MakeSequenceModel(config, {}, 5);
    model->eval();
    const torch::NoGradGuard no_grad;
    const torch::Tensor all_RD = model->PackedHidden(Sentences(kSources), Sentences(kTargets));
    int64_t row = 0;
    for (size_t b = 0; b < kSources.size(); ++b) {
      const torch::Tensor alone_TD =
          model->PackedHidden(Sentences({kSources[b]}), Sentences({kTargets[b]}));
      EXPECT_LT(Distance(all_RD.narrow(0, row, alone_TD.size(0)), alone_TD), 1e-5) << name;
      row += alone_TD.size(0);
    }
    // Nor does padding, and what comes later in a target.
    const torch::Tensor source = torch::tensor({{9, 3, 0, 0}}),
                        target = torch::tensor({{2, 16, 21}});
    const torch::Tensor padded_TD = model->PaddedHidden(source, target, true).squeeze(0);
    EXPECT_LT(Distance(padded_TD.narrow(0, 0, 2), all_RD.narrow(0, 3, 2)), 1e-5) << name;
  }
}

TEST(RivalsTest, GradientsAreThoseOfDifferences) {
  for (const auto& [name, config] : Rivals()) {
    const auto model = MakeSequenceModel(config, {}, 5);
    model->to(torch::kFloat64);
    model->eval();
    const PackedIds source = Sentences(kSources), target = Sentences(kTargets);
    torch::manual_seed(2);
    const torch::Tensor weights = torch::randn({9, 30}, kDouble);
    const auto loss = [&] {
      return (model->Logits(model->PackedHidden(source, target)) * weights).sum();
    };
    const std::vector<torch::Tensor> parameters = model->parameters();
    const auto gradients = torch::autograd::grad({loss()}, parameters, {}, std::nullopt, false,
                                                 /*allow_unused=*/true);
    const torch::NoGradGuard no_grad;
    constexpr double kStep = 1e-6;
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (!gradients[i].defined()) continue;
      const torch::Tensor direction = torch::randn_like(parameters[i]),
                          value = parameters[i].clone();
      parameters[i].copy_(value + kStep * direction);
      const double above = loss().item<double>();
      parameters[i].copy_(value - kStep * direction);
      const double below = loss().item<double>();
      parameters[i].copy_(value);
      EXPECT_NEAR((gradients[i] * direction).sum().item<double>(), (above - below) / (2 * kStep),
                  1e-5 * (1 + gradients[i].norm().item<double>()))
          << name << " " << model->named_parameters()[i].key();
    }
  }
}

TEST(RivalsTest, ProductsInBf16AreThoseOfF32WithinTheRounding) {
  for (const auto& [name, config] : Rivals()) {
    const auto model = MakeSequenceModel(config, Dropout{0, 0}, 5);
    LabelSmoothingLoss loss(0.1, config.special_ids.pad);
    std::vector<torch::Tensor> losses;
    for (const bool bf16 : {false, true}) {
      const Bf16Products products(torch::kCPU, bf16);
      const torch::Tensor hidden_RD = model->PackedHidden(Sentences(kSources), Sentences(kTargets));
      EXPECT_EQ(hidden_RD.scalar_type(), torch::kFloat32) << name;
      const torch::Tensor next = torch::arange(5, 5 + hidden_RD.size(0));
      losses.push_back(
          loss->FromHidden(hidden_RD, model->OutputWeight(), model->OutputBias(), next).loss);
      losses.back().backward();
    }
    EXPECT_NEAR((losses[1] / losses[0]).item<double>(), 1, 0.005) << name;
    EXPECT_NE(losses[1].item<double>(), losses[0].item<double>()) << name;  // something was rounded
  }
}

std::map<std::string, ModelConfig> AllWithDecoder() {
  std::map<std::string, ModelConfig> models = Rivals();
  for (const auto& [name, config] : SmallModels())
    if (config.encoder && config.decoder) models[name] = config;
  return models;
}

// Two sources begin, hypotheses are doubled, dropped and swapped, and a third source joins later.
TEST(StepsTest, AreTheRowsOfAWholePass) {
  for (const auto& [name, config] : AllWithDecoder()) {
    const auto model = MakeSequenceModel(config, {}, 5);
    model->eval();
    const torch::NoGradGuard no_grad;
    const int64_t bos = config.special_ids.bos;
    std::vector<std::vector<int64_t>> sources = {kSources[0], kSources[1]};
    std::vector<std::vector<int64_t>> read = {{}, {}};
    DecoderState state = model->Start(Sentences(sources));
    const auto step = [&](const std::vector<int64_t>& ids) {
      const torch::Tensor found_RD = model->Step(torch::tensor(ids), &state);
      for (size_t r = 0; r < ids.size(); ++r) {
        read[r].push_back(ids[r]);
        const torch::Tensor whole_TD =
            model->PackedHidden(Sentences({sources[r]}), Sentences({read[r]}));
        EXPECT_LT(Distance(found_RD[r], whole_TD[-1]), 2e-5) << name << ", row " << r;
      }
    };
    const auto choose = [&](const std::vector<int64_t>& rows) {
      state = state.Rows(rows);
      std::vector<std::vector<int64_t>> chosen_sources, chosen_read;
      for (const int64_t row : rows) {
        chosen_sources.push_back(sources[row]);
        chosen_read.push_back(read[row]);
      }
      sources = chosen_sources;
      read = chosen_read;
    };
    step({bos, bos});
    choose({1, 0, 0});
    step({14, 15, 16});
    state.Append(model->Start(Sentences({kSources[2]})));
    sources.push_back(kSources[2]);
    read.emplace_back();
    step({17, 18, 19, bos});
    choose({3, 2});
    step({20, 21});
    choose({0});
    step({22});
  }
}

TEST(RivalsTest, OptionsOfOtherArchitecturesAreRefused) {
  const auto refused = [](const ModelConfig& config) -> std::string {
    try {
      CheckModelConfig(config);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  ModelConfig config = Rival(Architecture::kLstm);
  EXPECT_EQ(refused(config), "");
  config.encoder->d_ff = 7;
  EXPECT_NE(refused(config).find("encoder.d_ff is 7"), std::string::npos) << refused(config);
  config = Rival(Architecture::kLstm);
  config.decoder->layers = 1;
  EXPECT_NE(refused(config).find("decoder.layers is 1"), std::string::npos) << refused(config);
  config = Rival(Architecture::kConvolution);
  config.encoder->kernel_width = 4;
  EXPECT_NE(refused(config).find("encoder.kernel_width is 4"), std::string::npos);
  config.encoder->kernel_width = 3;
  config.encoder->positions = PositionKind::kRelative;
  EXPECT_NE(refused(config).find("positions is relative"), std::string::npos) << refused(config);
  config = Rival(Architecture::kLstm);
  config.task = "parsing";
  EXPECT_NE(refused(config).find("parsing has no other"), std::string::npos) << refused(config);
  config = Rival(Architecture::kGru);
  config.encoder.reset();
  config.tie_source_target = false;
  EXPECT_NE(refused(config).find("architecture is gru"), std::string::npos) << refused(config);
}

}  // namespace
}  // namespace attend::nn
