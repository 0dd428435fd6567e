// The shapes that configurations start from.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <optional>
#include <utility>

#include "attend/error.h"
#include "attend/model_config.h"
#include "base/edit_distance.h"

namespace attend {
namespace {

StackConfig Stack(int64_t layers, int64_t d_model, int64_t heads, int64_t d_ff) {
  StackConfig config;
  config.layers = layers;
  config.d_model = d_model;
  config.heads = heads;
  config.d_ff = d_ff;
  return config;
}

// GPT-2's layers (Radford et al. 2019): norms before the sub-layers, learned positions, biases.
StackConfig Gpt(StackConfig config, int64_t max_positions) {
  config.norm_place = NormPlace::kPre;
  config.activation = Activation::kGelu;
  config.positions = PositionKind::kLearned;
  config.max_positions = max_positions;
  config.attention_bias = true;
  config.scale_embedding = false;
  config.norm_epsilon = 1e-5;
  return config;
}

// BERT's: the paper's post-norm with a norm of the embeddings, learned positions, biases.
StackConfig Bert(StackConfig config) {
  config.activation = Activation::kGelu;
  config.positions = PositionKind::kLearned;
  config.max_positions = 512;
  config.attention_bias = true;
  config.scale_embedding = false;
  config.embedding_norm = true;
  config.norm_epsilon = 1e-12;
  return config;
}

// The Vision Transformer's (Dosovitskiy et al. 2021): norms before the sub-layers, learned
// positions, biases.
StackConfig Vit(StackConfig config) {
  config.norm_place = NormPlace::kPre;
  config.activation = Activation::kGelu;
  config.positions = PositionKind::kLearned;
  config.attention_bias = true;
  config.scale_embedding = false;
  return config;
}

// Whisper's stacks (Radford et al. 2022): norms before the sub-layers, sinusoids over sound and
// learned positions of text, biases.
StackConfig Whisper(StackConfig config, int64_t max_positions = 0) {
  config.norm_place = NormPlace::kPre;
  config.activation = Activation::kGelu;
  config.position_convention = SinusoidConvention::kTimingSignal;
  if (max_positions > 0) {
    config.positions = PositionKind::kLearned;
    config.max_positions = max_positions;
  }
  config.attention_bias = true;
  config.scale_embedding = false;
  config.norm_epsilon = 1e-5;
  return config;
}

// LSTMs or GRUs, which need no positions and tell neighbours by their order.
StackConfig Recurrent(int64_t layers, int64_t d_model) {
  StackConfig config = Stack(layers, d_model, 1, StackConfig().d_ff);
  config.positions = PositionKind::kNone;
  return config;
}

StackConfig Convolution(int64_t layers, int64_t d_model) {
  StackConfig config;
  config.layers = layers;
  config.d_model = d_model;
  config.positions = PositionKind::kLearned;
  config.scale_embedding = false;
  return config;
}

void ReadPatches(const PatchInput& patches, ModelConfig* config) {
  config->input = InputKind::kPatches;
  config->patches = patches;
  config->encoder->max_positions = patches.rows();
  config->head = HeadKind::kNone;
}

void ReadFrames(const FrameInput& frames, ModelConfig* config) {
  config->input = InputKind::kFrames;
  config->frames = frames;
  config->tie_source_target = false;
}

// A picture of 96 x 96 pixels, words and linked nodes, joined by a small stack.
void ReadItems(ModelConfig* config) {
  StackConfig& joint = *config->encoder;
  config->input = InputKind::kItems;
  config->head = HeadKind::kNone;
  config->pooling = Pooling::kFirst;
  FusionInput& fusion = config->fusion.emplace();
  fusion.text = fusion.picture = joint;
  fusion.text.layers = 2;
  fusion.text.positions = PositionKind::kSinusoidal;
  fusion.text.scale_embedding = true;  // else sinusoids are far larger than the words
  fusion.picture.layers = 4;
  fusion.patches = {.height = 96, .width = 96, .patch = 8, .class_token = false};
  fusion.picture.max_positions = fusion.patches.rows();
  joint.positions = PositionKind::kNone;
}

}  // namespace

ModelConfig PresetConfig(const std::string& name) {
  using Shape = std::pair<std::optional<StackConfig>, std::optional<StackConfig>>;
  static const std::map<std::string, Shape> presets = {
      {"base", {Stack(6, 512, 8, 2048), Stack(6, 512, 8, 2048)}},
      {"big", {Stack(6, 1024, 16, 4096), Stack(6, 1024, 16, 4096)}},
      {"tiny", {Stack(4, 128, 4, 256), Stack(4, 128, 4, 256)}},
      {"student", {Stack(6, 256, 8, 1536), Stack(2, 256, 8, 1536)}},
      {"gpt-char", {std::nullopt, Gpt(Stack(6, 384, 6, 1536), 256)}},
      {"gpt2-small", {std::nullopt, Gpt(Stack(12, 768, 12, 3072), 1024)}},
      {"bert-tiny", {Bert(Stack(4, 256, 4, 1024)), std::nullopt}},
      {"bert-base", {Bert(Stack(12, 768, 12, 3072)), std::nullopt}},
      {"vit-tiny", {Vit(Stack(6, 96, 4, 192)), std::nullopt}},
      {"vit-base", {Vit(Stack(12, 768, 12, 3072)), std::nullopt}},
      {"speech-tiny", {Whisper(Stack(4, 128, 4, 512)), Whisper(Stack(2, 128, 4, 512), 448)}},
      {"whisper-tiny", {Whisper(Stack(4, 384, 6, 1536)), Whisper(Stack(4, 384, 6, 1536), 448)}},
      {"fusion-tiny", {Vit(Stack(2, 96, 4, 192)), std::nullopt}},
      {"lstm", {Recurrent(2, 256), Recurrent(2, 256)}},
      {"convolution", {Convolution(4, 256), Convolution(3, 256)}},
  };
  const auto found = presets.find(name);
  if (found == presets.end()) {
    std::vector<std::string> names;
    for (const auto& [known, stacks] : presets) names.push_back(known);
    throw Error(ErrorKind::kConfiguration,
                fmt::format("unknown preset '{}', expected {}{}", name, fmt::join(names, ", "),
                            DidYouMean(name, names)));
  }
  ModelConfig config;
  config.encoder = found->second.first;
  config.decoder = found->second.second;
  if (name == "vit-tiny")
    ReadPatches({.height = 28, .width = 28, .channels = 1, .patch = 4}, &config);
  if (name == "vit-base") ReadPatches({}, &config);
  if (name == "speech-tiny") ReadFrames({}, &config);
  if (name == "whisper-tiny") ReadFrames({.padded_seconds = 30}, &config);
  if (name == "fusion-tiny") ReadItems(&config);
  if (name == "lstm") config.architecture = Architecture::kLstm;
  if (name == "convolution") config.architecture = Architecture::kConvolution;
  return config;
}

std::string PresetOf(Architecture architecture) {
  if (architecture == Architecture::kTransformer) return "base";
  return IsRecurrent(architecture) ? "lstm" : "convolution";
}

}  // namespace attend
