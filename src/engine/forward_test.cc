// Models that lack a stack, against the plain formulas.
#include "engine/forward.h"

#include <gtest/gtest.h>

#include "engine/output_layer.h"
#include "engine/plain_transformer.h"
#include "kernels/inference/dispatch.h"
#include "model/quantize.h"

namespace attend {
namespace {

class ForwardTest : public testing::TestWithParam<std::string> {};

std::vector<EncoderItem> ItemsOf(const std::vector<std::vector<int32_t>>& sentences) {
  std::vector<EncoderItem> items;
  for (const std::vector<int32_t>& sentence : sentences)
    items.emplace_back(std::span<const int32_t>(sentence));
  return items;
}

TEST_P(ForwardTest, AnEncoderAloneGivesHiddenStates) {
  ModelConfig config = SmallConfig();
  config.decoder.reset();
  config.head = HeadKind::kNone;
  config.encoder->norm_place = NormPlace::kPre;
  const auto model = MakeModel(config);
  const Weights weights(model, GetParam());
  EXPECT_FALSE(weights.decoder);
  EXPECT_FALSE(weights.vocabulary_head);
  const std::vector<std::vector<int32_t>> sentences = RandomSentences(3, 9, 1);
  const std::vector<EncoderItem> given = ItemsOf(sentences);
  Activations activations;
  Encode(weights, given, {}, &activations);
  const float* row_D = activations.memory_SD.Get(0);
  for (const std::vector<int32_t>& sentence : sentences) {
    for (const std::vector<double>& want_D : Plain(*model).Encode(sentence)) {
      for (const double want : want_D) EXPECT_NEAR(*row_D++, want, 1e-5);
    }
  }
}

// BERT's encoder.
ModelConfig SmallEncoder() {
  ModelConfig config = SmallConfig();
  config.decoder.reset();
  config.encoder->embedding_norm = true;
  config.encoder->activation = Activation::kGelu;
  config.encoder->positions = PositionKind::kLearned;
  config.encoder->max_positions = 16;
  config.encoder->attention_bias = true;
  config.encoder->scale_embedding = false;
  config.encoder->norm_epsilon = 1e-12;
  return config;
}

ModelConfig LabelsOf(Pooling pooling, PoolerActivation activation = PoolerActivation::kTanh) {
  ModelConfig config = SmallEncoder();
  config.head = HeadKind::kLabels;
  config.labels = {"a", "b", "c"};
  config.pooling = pooling;
  config.head_pooler = pooling == Pooling::kFirst;
  config.pooler_activation = activation;
  return config;
}

TEST_P(ForwardTest, AnEncoderHasHeads) {
  ModelConfig masked = SmallEncoder();
  masked.head_bias = masked.head_transform = true;
  for (const ModelConfig& config :
       {masked, LabelsOf(Pooling::kTokens), LabelsOf(Pooling::kFirst), LabelsOf(Pooling::kMean),
        LabelsOf(Pooling::kFirst, PoolerActivation::kRelu)}) {
    CheckModelConfig(config);
    const auto model = MakeModel(config);
    const Weights weights(model, GetParam());
    const std::vector<std::vector<int32_t>> sentences = RandomSentences(3, 9, 1);
    const std::vector<EncoderItem> given = ItemsOf(sentences);
    std::vector<int64_t> lengths;
    for (const auto& sentence : sentences) lengths.push_back(std::ssize(sentence));
    Activations activations;
    Encode(weights, given, {}, &activations);
    const int64_t rows = Pool(weights, config.pooling, lengths, &activations);
    EncoderLogits(weights, rows, &activations);
    const float* found = activations.logits.Get(0);
    const float* const end = found + rows * config.head_width();
    for (const std::vector<int32_t>& sentence : sentences) {
      for (const std::vector<double>& want : Plain(*model).EncoderLogits(sentence)) {
        for (const double logit : want) EXPECT_NEAR(*found++, logit, 1e-5);
      }
    }
    EXPECT_EQ(found, end);
  }
}

// Pictures of 6 x 8 colour pixels in patches of 2.
ModelConfig SmallVit(Pooling pooling, bool class_token) {
  ModelConfig config = LabelsOf(pooling);
  config.input = InputKind::kPatches;
  config.patches = {.height = 6, .width = 8, .patch = 2, .class_token = class_token};
  config.source_vocab_size = config.target_vocab_size = 0;
  config.head_pooler = false;
  config.encoder->norm_place = NormPlace::kPre;
  config.encoder->max_positions = config.patches->rows();
  return config;
}

TEST_P(ForwardTest, AnEncoderReadsPictures) {
  ModelConfig sinusoids = SmallVit(Pooling::kMean, false);
  sinusoids.encoder->positions = PositionKind::kSinusoidal;
  sinusoids.encoder->embedding_norm = false;
  for (const ModelConfig& config :
       {SmallVit(Pooling::kFirst, true), SmallVit(Pooling::kMean, true), sinusoids}) {
    CheckModelConfig(config);
    const auto model = MakeModel(config);
    const Weights weights(model, GetParam());
    Random random({3});
    std::vector<std::vector<float>> pictures(3);
    std::vector<EncoderItem> given;
    for (std::vector<float>& picture : pictures) {
      for (int64_t i = 0; i < config.patches->patches() * config.patches->patch_size(); ++i)
        picture.push_back(static_cast<float>(2 * random.Uniform() - 1));
      given.emplace_back(std::span<const float>(picture));
    }
    Activations activations;
    Encode(weights, given, {}, &activations);
    const std::vector<int64_t> lengths(given.size(), config.patches->rows());
    EncoderLogits(weights, Pool(weights, config.pooling, lengths, &activations), &activations);
    const float* found = activations.logits.Get(0);
    for (const std::vector<float>& picture : pictures) {
      Matrix patches;
      for (auto at = picture.begin(); at != picture.end(); at += config.patches->patch_size())
        patches.emplace_back(at, at + config.patches->patch_size());
      const Matrix logits = Plain(*model).EncoderLogits(patches);
      ASSERT_EQ(logits.size(), 1);
      for (const double logit : logits[0]) EXPECT_NEAR(*found++, logit, 1e-5);
    }
  }
}

// Whisper's shape, with 5 bands.
ModelConfig SmallWhisper() {
  ModelConfig config = SmallConfig();
  config.task = "transcription";
  config.input = InputKind::kFrames;
  config.frames = FrameInput{.mels = 5, .kernels = {3, 5}, .strides = {1, 2}};
  config.source_vocab_size = 0;
  config.tie_source_target = false;
  for (std::optional<StackConfig>* stack : {&config.encoder, &config.decoder}) {
    (*stack)->norm_place = NormPlace::kPre;
    (*stack)->activation = Activation::kGelu;
    (*stack)->attention_bias = true;
    (*stack)->scale_embedding = false;
  }
  config.encoder->position_convention = SinusoidConvention::kTimingSignal;
  return config;
}

// Recordings of these many frames of 5 bands.
std::vector<std::vector<float>> RandomRecordings(const std::vector<int64_t>& lengths) {
  Random random({3});
  std::vector<std::vector<float>> recordings;
  for (const int64_t length : lengths) {
    std::vector<float>& recording = recordings.emplace_back(length * 5);
    for (float& number : recording) number = static_cast<float>(2 * random.Uniform() - 1);
  }
  return recordings;
}

// Logits [T, V] of these ids after each of the recordings, which share all passes.
std::vector<std::vector<float>> LogitsAfter(const Weights& weights,
                                            const std::vector<std::vector<float>>& recordings,
                                            const std::vector<int32_t>& ids) {
  Activations activations;
  DecoderCache cache;
  std::vector<EncoderItem> items;
  for (const std::vector<float>& recording : recordings)
    items.emplace_back(std::span<const float>(recording));
  StartAll(weights, items, {}, &activations, &cache);
  std::vector<DecoderRow> rows;
  for (int32_t source = 0; source < static_cast<int32_t>(items.size()); ++source)
    for (const int32_t id : ids) rows.push_back({source, id});
  Decode(weights, rows, {}, &activations, &cache);
  const int64_t each = std::ssize(ids) * weights.config().head_width();
  std::vector<float> all(recordings.size() * each);
  Logits(weights, std::ssize(rows), &activations, all.data());
  std::vector<std::vector<float>> logits;
  for (size_t i = 0; i < recordings.size(); ++i)
    logits.emplace_back(all.begin() + i * each, all.begin() + (i + 1) * each);
  return logits;
}

TEST_P(ForwardTest, AnEncoderReadsFrames) {
  ModelConfig learned = SmallWhisper();
  learned.encoder->positions = PositionKind::kLearned;
  learned.encoder->max_positions = 300;
  learned.encoder->embedding_norm = true;
  ModelConfig shorter = SmallWhisper();
  shorter.frames->kernels = {7, 1, 3};
  shorter.frames->strides = {3, 2, 1};
  const std::vector<int32_t> ids = {2, 7, 30, 12};
  for (const ModelConfig& config : {SmallWhisper(), learned, shorter}) {
    CheckModelConfig(config);
    const auto model = MakeModel(config);
    const Weights weights(model, GetParam());
    // Of one frame, of fewer than a kernel, and of more rows than run together.
    const auto recordings = RandomRecordings({1, 2, 9, 40, 523});
    const auto found = LogitsAfter(weights, recordings, ids);
    for (size_t i = 0; i < recordings.size(); ++i) {
      Matrix frames;
      for (auto at = recordings[i].begin(); at != recordings[i].end(); at += 5)
        frames.emplace_back(at, at + 5);
      const Matrix want_TV = Plain(*model).Logits(frames, ids);
      for (size_t at = 0; at < found[i].size(); ++at)
        ASSERT_NEAR(found[i][at], want_TV[at / 40][at % 40], 2e-5) << i;
    }
  }
}

// A recording alone and among others, f32 and int8.
TEST_P(ForwardTest, FramesHaveTheSameBitsWhateverSharesTheBatch) {
  const auto stored = MakeModel(SmallWhisper());
  const std::vector<int32_t> ids = {2, 7, 30, 12};
  const auto recordings = RandomRecordings({31, 9, 400, 33});
  for (const WeightType type : {WeightType::kStored, WeightType::kInt8}) {
    const Weights weights(WithWeights(stored, type), GetParam());
    const auto together = LogitsAfter(weights, recordings, ids);
    for (size_t i = 0; i < recordings.size(); ++i)
      EXPECT_EQ(LogitsAfter(weights, {recordings[i]}, ids)[0], together[i]);
    if (type == WeightType::kStored) continue;
    Matrix frames;
    for (auto at = recordings[0].begin(); at != recordings[0].end(); at += 5)
      frames.emplace_back(at, at + 5);
    const Matrix want_TV = Plain(*weights.model).Logits(frames, ids);
    for (size_t at = 0; at < together[0].size(); ++at)
      EXPECT_NEAR(together[0][at], want_TV[at / 40][at % 40], 0.05);
  }
}

// T5's, with few buckets.
ModelConfig SmallT5() {
  ModelConfig config = SmallConfig();
  for (StackConfig* stack : {&*config.encoder, &*config.decoder}) {
    stack->norm = NormKind::kRmsNorm;
    stack->norm_place = NormPlace::kPre;
    stack->positions = PositionKind::kRelative;
    stack->relative_buckets = 8;
    stack->relative_max_distance = 6;
    stack->activation = Activation::kGeGluTanh;
    stack->feed_forward_bias = stack->scale_embedding = false;
    stack->d_k = stack->d_v = 5;
  }
  config.encoder->layers = 1;
  config.tie_target_output = false;
  return config;
}

// Logits of the second text, `together` tokens of it at a time.
std::vector<float> LogitsInSteps(const Weights& weights, std::span<const std::vector<int32_t>> ids,
                                 size_t together) {
  Activations activations;
  DecoderCache cache;
  StartAll(weights, ItemsOf({ids[0]}), {}, &activations, &cache);
  std::vector<float> logits_TV;
  for (size_t t = 0; t < ids[1].size(); t += together) {
    std::vector<DecoderRow> rows;
    for (size_t r = t; r < std::min(t + together, ids[1].size()); ++r)
      rows.push_back({0, ids[1][r]});
    Decode(weights, rows, {}, &activations, &cache);
    logits_TV.resize((t + rows.size()) * 40);
    Logits(weights, std::ssize(rows), &activations, logits_TV.data() + t * 40);
  }
  return logits_TV;
}

// Tokens of both stacks one at a time, some together, or all at once; longer than what is made of
// biases at first.
TEST_P(ForwardTest, RelativePositionsBiasScores) {
  ModelConfig post = SmallT5();
  post.encoder->norm_place = NormPlace::kPost;
  for (const ModelConfig& config : {SmallT5(), post}) {
    CheckModelConfig(config);
    const auto model = MakeModel(config);
    const Weights weights(model, GetParam());
    std::vector<std::vector<int32_t>> ids = RandomSentences(2, 9, 3);
    ids.front().resize(135, 7);
    ids.back().resize(131, 9);
    const Matrix want_RV = Plain(*model).Logits(ids.front(), ids.back());
    for (const size_t together : {size_t{1}, size_t{3}, ids.back().size()}) {
      const std::vector<float> found_TV = LogitsInSteps(weights, ids, together);
      for (size_t i = 0; i < found_TV.size(); ++i)
        EXPECT_NEAR(found_TV[i], want_RV[i / 40][i % 40], 2e-5);
    }
  }
}

TEST_P(ForwardTest, AWindowRestrictsSelfAttention) {
  for (const bool relative : {false, true}) {
    for (const int64_t window : {1, 4, 60, 134, 500}) {
      ModelConfig config = relative ? SmallT5() : SmallConfig();
      config.encoder->attention_window = config.decoder->attention_window = window;
      CheckModelConfig(config);
      const auto model = MakeModel(config);
      const Weights weights(model, GetParam());
      std::vector<std::vector<int32_t>> ids = RandomSentences(2, 9, 3);
      ids.front().resize(135, 7);
      ids.back().resize(131, 9);
      const std::vector<float> found_TV = LogitsInSteps(weights, ids, 1);
      for (const size_t together : {size_t{3}, ids.back().size()})
        EXPECT_EQ(LogitsInSteps(weights, ids, together), found_TV) << window;
      const Matrix want_TV = Plain(*model).Logits(ids.front(), ids.back());
      for (size_t i = 0; i < found_TV.size(); ++i)
        EXPECT_NEAR(found_TV[i], want_TV[i / 40][i % 40], 2e-5) << window;
      if (window < 134) continue;  // which reaches everything
      config.encoder->attention_window = config.decoder->attention_window = 0;
      EXPECT_EQ(LogitsInSteps(Weights(MakeModel(config), GetParam()), ids, 1), found_TV);
    }
  }
}

TEST_P(ForwardTest, ADecoderAloneReadsNoSource) {
  const auto model = MakeModel(SmallLanguageModel());
  const Weights weights(model, GetParam());
  const std::vector<int32_t> ids = {2, 7, 9, 4, 30, 12};
  Activations activations;
  DecoderCache cache;
  StartAll(weights, std::vector<EncoderItem>(1), {}, &activations, &cache);
  std::vector<DecoderRow> rows;
  for (const int32_t id : ids) rows.push_back({0, id});
  Decode(weights, rows, {}, &activations, &cache);
  std::vector<float> logits_RV(rows.size() * 40);
  Logits(weights, std::ssize(rows), &activations, logits_RV.data());
  const Matrix want_RV = Plain(*model).Logits({}, ids);
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t v = 0; v < 40; ++v) EXPECT_NEAR(logits_RV[r * 40 + v], want_RV[r][v], 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ForwardTest, testing::ValuesIn(AvailableInstructionSets()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace attend
