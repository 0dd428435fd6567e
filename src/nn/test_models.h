// Small models that between them use every option of the layers, for tests.
#ifndef ATTEND_NN_TEST_MODELS_H_
#define ATTEND_NN_TEST_MODELS_H_

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "attend/model_config.h"
#include "attend/nn/stacks.h"
#include "attend/nn/torch.h"

namespace attend::nn {

inline StackConfig SmallStack() {
  StackConfig stack;
  stack.layers = 2;
  stack.d_model = 16;
  stack.heads = 4;
  stack.d_ff = 24;
  return stack;
}

inline ModelConfig SmallModel(const StackConfig& stack = SmallStack()) {
  ModelConfig config;
  config.encoder = config.decoder = stack;
  config.source_vocab_size = config.target_vocab_size = 30;
  return config;
}

// As other toolkits have them: Marian, T5, GPT-2, Marian's students.
inline void AddOthersModels(std::map<std::string, ModelConfig>* models) {
  StackConfig stack = SmallStack();
  stack.activation = Activation::kSilu;
  stack.position_convention = SinusoidConvention::kTimingSignal;
  ModelConfig config = SmallModel(stack);
  config.decoder->activation = Activation::kGeluTanh;
  config.special_ids.bos = kZeroVector;
  (*models)["silu_timing_signal"] = config;
  stack.activation = Activation::kGeGluTanh;
  (*models)["geglu_tanh"] = SmallModel(stack);
  stack = SmallStack();
  stack.norm = NormKind::kRmsNorm;
  stack.positions = PositionKind::kRelative;
  stack.relative_buckets = 8;
  stack.relative_max_distance = 6;
  config = SmallModel(stack);
  config.encoder->position_offset = 3;  // which says nothing of distances
  config.decoder->positions = PositionKind::kSinusoidal;
  (*models)["rms_post_norm"] = config;
  stack.norm_place = NormPlace::kPre;
  stack.activation = Activation::kGeGluTanh;
  stack.feed_forward_bias = stack.scale_embedding = false;
  stack.d_k = stack.d_v = 3;
  config = SmallModel(stack);
  config.tie_target_output = false;
  (*models)["t5"] = config;
  config = SmallModel();
  config.decoder->recurrence = Recurrence::kSsru;
  (*models)["ssru"] = config;
  stack = SmallStack();
  stack.attention_window = 2;
  config = SmallModel(stack);
  config.encoder->positions = PositionKind::kRelative;
  config.decoder->attention_window = 1;
  (*models)["window"] = config;
}

// Configurations by name.
inline std::map<std::string, ModelConfig> SmallModels() {
  std::map<std::string, ModelConfig> models;
  models["post_norm"] = SmallModel();

  StackConfig stack = SmallStack();
  stack.norm_place = NormPlace::kPre;
  stack.activation = Activation::kGelu;
  stack.attention_bias = true;
  stack.position_convention = SinusoidConvention::kHalves;
  stack.position_offset = 2;
  models["pre_norm_gelu_biases"] = SmallModel(stack);
  models["pre_norm_gelu_biases"].head_bias = true;

  stack = SmallStack();
  stack.activation = Activation::kSwiGlu;
  stack.feed_forward_bias = false;
  stack.positions = PositionKind::kLearned;
  stack.max_positions = 40;
  stack.d_k = 3;
  stack.d_v = 5;
  stack.scale_embedding = false;
  ModelConfig config = SmallModel(stack);
  config.tie_source_target = config.tie_target_output = false;
  config.target_vocab_size = 26;
  config.encoder->layers = 3;
  models["swiglu_learned_untied"] = config;

  AddOthersModels(&models);
  stack = SmallStack();
  stack.positions = PositionKind::kNone;
  config = SmallModel(stack);
  config.tie_source_target = false;
  models["decoder_output_tied"] = config;
  config.tie_source_target = true;
  config.tie_target_output = false;
  models["source_target_tied"] = config;

  config = SmallModel();
  config.encoder.reset();
  models["decoder_only"] = config;
  config = SmallModel();
  config.decoder.reset();
  config.head = HeadKind::kNone;
  models["encoder_only"] = config;
  return models;
}

// BERT's encoder with a head of masked tokens, of labels for tokens, and for texts in two ways.
inline std::map<std::string, ModelConfig> SmallEncoders() {
  StackConfig stack = SmallStack();
  stack.activation = Activation::kGelu;
  stack.positions = PositionKind::kLearned;
  stack.max_positions = 40;
  stack.attention_bias = stack.embedding_norm = true;
  stack.scale_embedding = false;
  stack.norm_epsilon = 1e-12;
  ModelConfig config = SmallModel(stack);
  config.decoder.reset();
  std::map<std::string, ModelConfig> models;
  models["masked_tokens"] = config;
  models["masked_tokens"].head_bias = models["masked_tokens"].head_transform = true;
  config.head = HeadKind::kLabels;
  config.labels = {"a", "b", "c", "d", "e"};
  models["token_labels"] = config;
  config.pooling = Pooling::kMean;
  models["mean_labels"] = config;
  config.pooling = Pooling::kFirst;
  config.head_pooler = true;
  models["text_labels"] = config;
  config.pooler_activation = PoolerActivation::kRelu;
  models["relu_labels"] = config;
  return models;
}

// GPT-2, scaled down, for the vocabulary of tests/data/golden_language_model.
inline ModelConfig SmallGpt() {
  ModelConfig config = PresetConfig("gpt2-small");
  config.task = "language_model";
  config.decoder->layers = 2;
  config.decoder->d_model = 16;
  config.decoder->heads = 4;
  config.decoder->d_ff = 64;
  config.decoder->max_positions = 40;
  config.source_vocab_size = config.target_vocab_size = 31;
  return config;
}

// Ids of 3 sentences, [3, length], none special; the second and third end in padding where
// `padded`.
inline torch::Tensor SmallIds(int64_t length, int64_t seed, bool padded = true) {
  torch::Tensor ids =
      (torch::arange(3 * length) * 7 + seed * 11).remainder(22).add(4).view({3, length});
  if (padded) {
    ids.slice(0, 1, 2).slice(1, length - 2).zero_();
    ids.slice(0, 2, 3).slice(1, length / 2).zero_();
  }
  return ids;
}

// Sentences `first` to `last` of ids padded with 0, without the padding.
inline PackedIds PackSentences(const torch::Tensor& ids_BS, int64_t first, int64_t last) {
  PackedIds packed;
  std::vector<int64_t> offsets{0};
  std::vector<torch::Tensor> ids, places;
  for (int64_t b = first; b < last; ++b) {
    ids.push_back(ids_BS[b].index({ids_BS[b] != 0}));
    const int64_t length = ids.back().size(0);
    offsets.push_back(offsets.back() + length);
    places.push_back(torch::arange(length));
    packed.longest = std::max(packed.longest, length);
  }
  packed.ids_R = torch::cat(ids);
  packed.positions_R = torch::cat(places);
  packed.offsets_B1 = torch::tensor(offsets);
  return packed;
}

}  // namespace attend::nn

#endif  // ATTEND_NN_TEST_MODELS_H_
