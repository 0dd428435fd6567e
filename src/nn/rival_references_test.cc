// The recurrent and the convolutional model against others that are composed of LibTorch's
// operations, layer by layer, as the papers have them.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "attend/nn/sequence_model.h"
#include "nn/test_models.h"

namespace attend::nn {
namespace {

using Weights = torch::OrderedDict<std::string, torch::Tensor>;
// Logits [T, V] of one sentence, ids [S] and [T].
using Reference = torch::Tensor (*)(const Weights& weights, const torch::Tensor& source,
                                    const torch::Tensor& target);

// Without tied weights, so that each part's gradient is its own.
ModelConfig Rival(Architecture architecture, int64_t encoder_layers, int64_t decoder_layers) {
  ModelConfig config = PresetConfig(PresetOf(architecture));
  config.architecture = architecture;
  config.source_vocab_size = config.target_vocab_size = 30;
  config.encoder->d_model = config.decoder->d_model = 16;
  config.encoder->layers = encoder_layers;
  config.decoder->layers = decoder_layers;
  config.tie_source_target = config.tie_target_output = false;
  config.head_bias = true;
  return config;
}

// Largest difference over the largest value.
double Distance(const torch::Tensor& a, const torch::Tensor& b) {
  return ((a - b).abs().max() / b.abs().max().clamp_min(1e-12)).item<double>();
}

// Logits of three sentences, and the gradients of all weights.
void ExpectSame(const ModelConfig& config, Reference reference, torch::ScalarType type,
                double limit) {
  torch::manual_seed(1);
  const auto model = MakeSequenceModel(config, {}, 5);
  model->to(type);
  model->eval();
  const Weights weights = model->named_parameters();
  {
    const torch::NoGradGuard no_grad;
    for (const torch::Tensor& weight : weights.values()) weight.normal_(0, 0.3);
  }
  const torch::Tensor sources = SmallIds(6, 1), targets = SmallIds(5, 2);
  std::vector<torch::Tensor> alone;
  for (int64_t b = 0; b < 3; ++b) {
    alone.push_back(reference(weights, sources[b].index({sources[b] != 0}),
                              targets[b].index({targets[b] != 0})));
  }
  const torch::Tensor expected_RV = torch::cat(alone),
                      found_RV = model->Logits(model->PackedHidden(PackSentences(sources, 0, 3),
                                                                   PackSentences(targets, 0, 3)));
  EXPECT_LT(Distance(found_RV, expected_RV), limit);
  const torch::Tensor random_RV = torch::randn_like(expected_RV);
  const auto gradients = torch::autograd::grad({(found_RV * random_RV).sum()}, weights.values()),
             expected = torch::autograd::grad({(expected_RV * random_RV).sum()}, weights.values());
  for (size_t i = 0; i < gradients.size(); ++i)
    EXPECT_LT(Distance(gradients[i], expected[i]), limit) << weights[i].key();
}

torch::Tensor Product(const Weights& weights, const std::string& name, const torch::Tensor& x) {
  const torch::Tensor* bias = weights.find(name + ".bias");
  return torch::linear(x, weights[name + ".weight"], bias != nullptr ? *bias : torch::Tensor());
}

torch::Tensor WordsAndPlaces(const Weights& weights, const std::string& stack,
                             const torch::Tensor& ids_T) {
  return torch::embedding(weights[stack + ".embedding.weight"], ids_T) +
         weights[stack + ".positions.weight"].narrow(0, 0, ids_T.size(0));
}

// One layer; of two names, one that reads both ways.
torch::Tensor Lstm(const Weights& weights, const std::vector<std::string>& names,
                   const torch::Tensor& x_TD) {
  std::vector<torch::Tensor> parts;
  for (const std::string& name : names)
    for (const char* part : {".weight_input", ".weight_hidden", ".bias_input", ".bias_hidden"})
      parts.push_back(weights[name + part]);
  const torch::Tensor zeros = x_TD.new_zeros({std::ssize(names), 1, parts[1].size(1)});
  return std::get<0>(torch::lstm(x_TD.unsqueeze(1), {zeros, zeros}, parts, /*has_biases=*/true,
                                 /*num_layers=*/1, /*dropout=*/0, /*train=*/false,
                                 /*bidirectional=*/names.size() == 2, /*batch_first=*/false))
      .squeeze(1);
}

// Wu et al. 2016, figure 1, with the attention that attend/nn describes: residuals start at the
// third layer.
torch::Tensor FourLstms(const Weights& weights, const torch::Tensor& source,
                        const torch::Tensor& target) {
  const auto embedded = [&](const std::string& stack, const torch::Tensor& ids) {
    return torch::embedding(weights[stack + ".embedding.weight"], ids) * std::sqrt(16);
  };
  const auto encoder = [&](const std::string& layer, const torch::Tensor& x) {
    return Lstm(weights, {"encoder.layers." + layer}, x);
  };
  const torch::Tensor first = Lstm(weights, {"encoder.forward_layer", "encoder.backward_layer"},
                                   embedded("encoder", source));
  const torch::Tensor second = encoder("0", first), third = second + encoder("1", second),
                      memory_SD = third + encoder("2", third);

  const torch::Tensor lowest = Lstm(weights, {"decoder.layers.0"}, embedded("decoder", target));
  const auto attention = [&](const std::string& part, const torch::Tensor& x) {
    return Product(weights, "decoder.attention." + part, x);
  };
  const torch::Tensor scores_TS =
      torch::matmul(attention("query", lowest), attention("key", memory_SD).t()) / std::sqrt(16);
  const torch::Tensor context_TD =
      attention("output", torch::matmul(scores_TS.softmax(1), attention("value", memory_SD)));
  const auto decoder = [&](const std::string& layer, const torch::Tensor& x) {
    return Lstm(weights, {"decoder.layers." + layer}, torch::cat({x, context_TD}, 1));
  };
  const torch::Tensor above = decoder("1", lowest), higher = above + decoder("2", above);
  return Product(weights, "head", higher + decoder("3", higher));
}

TEST(RivalReferencesTest, LstmsHaveResidualsFromTheThirdLayerOn) {
  const ModelConfig config = Rival(Architecture::kLstm, 4, 4);
  ExpectSame(config, FourLstms, torch::kFloat64, 1e-10);
  ExpectSame(config, FourLstms, torch::kFloat32, 1e-5);
}

// Of so many zeros on each side; a separable one in two steps.
torch::Tensor Convolution(const Weights& weights, const std::string& name, int64_t before,
                          int64_t after, const torch::Tensor& x_TD) {
  const torch::Tensor& weight = weights[name + ".weight"];
  const torch::Tensor* columns_WD = weights.find(name + ".columns");
  const int64_t width = x_TD.size(1);
  torch::Tensor x_1DT = torch::constant_pad_nd(x_TD.t().unsqueeze(0), {before, after});
  if (columns_WD != nullptr) {
    x_1DT = torch::conv1d(x_1DT, columns_WD->t().unsqueeze(1), {}, /*stride=*/1,
                          /*padding=*/at::IntArrayRef(0), /*dilation=*/1, /*groups=*/width);
  }
  const torch::Tensor kernel = weight.view({2 * width, -1, width}).transpose(1, 2);
  return torch::glu(torch::conv1d(x_1DT, kernel, weights[name + ".bias"]), 1).squeeze(0).t();
}

// Gehring et al. 2017, section 3, an encoder of 3 layers with windows of 5
// tokens and a decoder of 2 with windows of 3.
torch::Tensor ConvS2S(const Weights& weights, const torch::Tensor& source,
                      const torch::Tensor& target) {
  const double half = std::sqrt(0.5);
  const torch::Tensor e_SD = WordsAndPlaces(weights, "encoder", source);
  torch::Tensor h_SD = Product(weights, "encoder.input", e_SD);
  for (const char* layer : {"0", "1", "2"})
    h_SD = (Convolution(weights, std::string("encoder.layers.") + layer, 2, 2, h_SD) + h_SD) * half;
  const torch::Tensor z_SD = Product(weights, "encoder.output", h_SD);

  const torch::Tensor g_TD = WordsAndPlaces(weights, "decoder", target);
  torch::Tensor x_TD = Product(weights, "decoder.input", g_TD);
  for (const char* number : {"0", "1"}) {
    const std::string layer = std::string("decoder.layers.") + number;
    const torch::Tensor y_TD = Convolution(weights, layer + ".convolution", 2, 0, x_TD);
    const torch::Tensor d_TD = (Product(weights, layer + ".query", y_TD) + g_TD) * half;
    const torch::Tensor a_TS = torch::matmul(d_TD, z_SD.t()).softmax(1);
    const torch::Tensor sum_TD =
        torch::matmul(a_TS, (z_SD + e_SD) * half) * std::sqrt(static_cast<double>(source.size(0)));
    const torch::Tensor c_TD = Product(weights, layer + ".output", sum_TD);
    x_TD = ((c_TD + y_TD) * half + x_TD) * half;
  }
  return Product(weights, "head", Product(weights, "decoder.output", x_TD));
}

TEST(RivalReferencesTest, ConvolutionsAreConvS2S) {
  for (const bool separable : {false, true}) {
    SCOPED_TRACE(separable ? "separable" : "plain");
    ModelConfig config = Rival(Architecture::kConvolution, 3, 2);
    config.encoder->separable = config.decoder->separable = separable;
    config.encoder->kernel_width = 5;
    config.encoder->max_positions = config.decoder->max_positions = 20;
    ExpectSame(config, ConvS2S, torch::kFloat64, 1e-10);
    ExpectSame(config, ConvS2S, torch::kFloat32, 1e-5);
  }
}

}  // namespace
}  // namespace attend::nn
