#include "attend/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "attend/error.h"
#include "base/json.h"
#include "model/config_fields.h"
#include "model/tensor_table.h"

namespace attend {
namespace {

ModelConfig WithVocabulary(const std::string& preset, int64_t size) {
  ModelConfig config = PresetConfig(preset);
  config.source_vocab_size = config.target_vocab_size = size;
  return config;
}

// Why a configuration makes no sense, or "".
std::string Message(const ModelConfig& config) {
  try {
    CheckModelConfig(config);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

int64_t BaseCount(const std::function<void(StackConfig&)>& change) {
  ModelConfig config = WithVocabulary("base", 37000);
  change(*config.encoder);
  change(*config.decoder);
  CheckModelConfig(config);
  return ParameterCount(config);
}

TEST(ModelConfigTest, PaperParameterCounts) {  // the paper's Table 3, with V = 37,000
  EXPECT_EQ(ParameterCount(WithVocabulary("base", 37000)), 63045632);
  EXPECT_EQ(ParameterCount(WithVocabulary("big", 37000)), 214171648);
}

TEST(ModelConfigTest, Table3Differences) {
  const int64_t base = BaseCount([](StackConfig&) {});
  const auto millions = [&](const std::function<void(StackConfig&)>& change) {
    return (BaseCount(change) - base) / 1e6;
  };
  EXPECT_NEAR(millions([](StackConfig& s) { s.layers = 2; }), -29.4, 0.05);
  EXPECT_NEAR(millions([](StackConfig& s) { s.layers = 4; }), -14.7, 0.05);
  EXPECT_NEAR(millions([](StackConfig& s) { s.layers = 8; }), 14.7, 0.05);
  EXPECT_NEAR(millions([](StackConfig& s) { s.d_ff = 1024; }), -12.6, 0.05);
  EXPECT_NEAR(millions([](StackConfig& s) { s.d_ff = 4096; }), 25.2, 0.05);
  EXPECT_NEAR(millions([](StackConfig& s) { s.d_k = 16; }), -7.08, 0.005);
  EXPECT_NEAR(millions([](StackConfig& s) { s.d_k = 32; }), -4.72, 0.005);
  for (const int64_t heads : {1, 4, 16, 32}) {  // row A: the same count
    EXPECT_EQ(BaseCount([&](StackConfig& s) { s.heads = heads; }), base);
  }
}

TEST(ModelConfigTest, TiesChangeTheCountByOneTable) {
  ModelConfig config = WithVocabulary("base", 1000);
  const int64_t tied = ParameterCount(config);
  config.tie_source_target = false;
  EXPECT_EQ(ParameterCount(config), tied + 1000 * 512);
  EXPECT_EQ(OutputWeightName(config), "decoder.embedding.weight");
  config.tie_target_output = false;
  EXPECT_EQ(ParameterCount(config), tied + 2 * 1000 * 512);
}

TEST(ModelConfigTest, HeadsOfEncoders) {
  // BERT base with its vocabulary and its head of masked tokens: transformers' BertForMaskedLM has
  // 109,514,298 parameters, 2 * 768 of them for two kinds of segments.
  ModelConfig config = WithVocabulary("bert-base", 30522);
  config.head_bias = config.head_transform = true;
  CheckModelConfig(config);
  EXPECT_EQ(ParameterCount(config), 109514298 - 2 * 768);
  config.head_transform = false;
  config.head = HeadKind::kLabels;
  config.labels = {"O", "B", "I"};
  CheckModelConfig(config);
  EXPECT_EQ(config.head_width(), 3);
  config.head_pooler = true;
  EXPECT_THROW(CheckModelConfig(config), Error);  // it is of texts
  config.pooling = Pooling::kFirst;
  CheckModelConfig(config);
  config.labels = {"O", "B", "O"};
  EXPECT_THROW(CheckModelConfig(config), Error);  // which of the two would it be?
  config.labels = {"O", "B"};
  config.pooler_activation = PoolerActivation::kRelu;
  CheckModelConfig(config);
  config.head_pooler = false;
  EXPECT_THROW(CheckModelConfig(config), Error);
  config.labels.clear();
  EXPECT_THROW(CheckModelConfig(config), Error);
}

TEST(ModelConfigTest, RelativePositionsHaveATableForEachStack) {
  // transformers' T5ForConditionalGeneration of t5-small's shape has 60,506,624 parameters.
  ModelConfig config = WithVocabulary("base", 32128);
  for (StackConfig* stack : {&*config.encoder, &*config.decoder}) {
    stack->norm = NormKind::kRmsNorm;
    stack->norm_place = NormPlace::kPre;
    stack->positions = PositionKind::kRelative;
    stack->feed_forward_bias = false;
  }
  CheckModelConfig(config);
  EXPECT_EQ(ParameterCount(config), 60506624);
  for (const TensorSpec& spec : ExpectedTensors(config)) {
    if (spec.name.ends_with("relative_bias.weight")) {
      EXPECT_EQ(spec.shape, (std::vector<int64_t>{32, 8}));
      EXPECT_FALSE(MayBeInt8(spec));
    }
  }
  config.encoder->relative_buckets = 3;
  EXPECT_THAT(Message(config),
              testing::HasSubstr("encoder.relative_buckets is 3, expected at least 4"));
  config.encoder->relative_buckets = 32;
  config.decoder->relative_max_distance = 16;
  EXPECT_THAT(Message(config),
              testing::HasSubstr("decoder.relative_max_distance is 16, expected more"));
  config.decoder->relative_max_distance = 17;
  EXPECT_EQ(Message(config), "");
  config.decoder->recurrence = Recurrence::kSsru;
  EXPECT_THAT(Message(config), testing::HasSubstr("decoder.positions is relative"));
}

TEST(ModelConfigTest, AWindowIsOfAttention) {
  ModelConfig config = WithVocabulary("tiny", 100);
  const int64_t parameters = ParameterCount(config);
  config.decoder->separable = true;
  EXPECT_THAT(Message(config), testing::HasSubstr("decoder.separable is true, but it has no"));
  config.decoder->separable = false;
  config.encoder->attention_window = config.decoder->attention_window = 8;
  EXPECT_EQ(Message(config), "");
  EXPECT_EQ(ParameterCount(config), parameters);
  config.decoder->recurrence = Recurrence::kSsru;
  EXPECT_THAT(Message(config), testing::HasSubstr("decoder.attention_window is 8, expected 0"));
}

TEST(ModelConfigTest, RefusesWhatMakesNoSense) {
  ModelConfig config = WithVocabulary("tiny", 100);
  config.encoder->heads = 3;
  EXPECT_THROW(CheckModelConfig(config), Error);
  config = WithVocabulary("tiny", 100);
  config.source_vocab_size = 50;
  EXPECT_THROW(CheckModelConfig(config), Error);
  EXPECT_THROW(PresetConfig("bas"), Error);
}

TEST(ModelConfigTest, FramesStandAroundSourceAndTarget) {
  ModelConfig config = WithVocabulary("tiny", 100);
  using Ids = std::vector<int32_t>;
  const Ids tokens = {7, 8};
  EXPECT_EQ(config.EncoderIds(tokens), (Ids{7, 8, 3}));
  EXPECT_EQ(config.EncoderIds({}), (Ids{3}));
  EXPECT_EQ(config.TargetFrame().Around(tokens), (Ids{2, 7, 8, 3}));
  config.source_begin = {50};
  config.source_end = {60, 61};
  config.target_begin = {70};
  CheckModelConfig(config);
  EXPECT_EQ(config.EncoderIds(tokens), (Ids{50, 7, 8, 3, 60, 61}));
  EXPECT_EQ(config.TargetFrame().Around(tokens), (Ids{2, 70, 7, 8, 3}));
  config.source_eos = false;
  EXPECT_EQ(config.EncoderIds(tokens), (Ids{50, 7, 8, 60, 61}));
  EXPECT_EQ(config.EncoderIds({}), (Ids{50, 3, 60, 61}));
}

TEST(ModelConfigTest, TokensOfASourceComeOutOfItsFrame) {
  using Ids = std::vector<int32_t>;
  for (const bool eos : {true, false}) {
    for (const bool framed : {true, false}) {
      ModelConfig config = WithVocabulary("tiny", 100);
      config.source_eos = eos;
      if (framed) config.source_begin = {50}, config.source_end = {60};
      for (const Ids& tokens : {Ids{}, Ids{7}, Ids{7, 3}, Ids{3, 3}, Ids{50, 60}}) {
        const Ids read = config.EncoderIds(tokens);
        const std::span<const int32_t> found = config.SourceTokens(read);
        EXPECT_EQ(Ids(found.begin(), found.end()), tokens) << eos << framed;
      }
      if (!framed) continue;
      const Ids other = {7, 8, 9, 10};
      EXPECT_EQ(config.SourceTokens(other).size(), 4U);
    }
  }
}

TEST(ModelConfigTest, LearnedPositionsHaveRoomForTheFrame) {
  ModelConfig config = WithVocabulary("tiny", 100);
  for (StackConfig* stack : {&*config.encoder, &*config.decoder}) {
    stack->positions = PositionKind::kLearned;
    stack->max_positions = 20;
    stack->position_offset = 2;
  }
  EXPECT_EQ(config.MaxSourceTokens(), 17);
  EXPECT_EQ(config.MaxTargetTokens(), 17);
  config.source_begin = {50};
  config.source_end = {60, 61};
  config.target_begin = {70};
  EXPECT_EQ(config.MaxSourceTokens(), 14);
  EXPECT_EQ(config.MaxTargetTokens(), 16);
  EXPECT_EQ(config.MaxOutput(100), 17);
  EXPECT_EQ(config.MaxOutput(3), 3);
  config.target_begin.assign(18, 70);
  EXPECT_THROW(CheckModelConfig(config), Error);
  config.decoder->positions = PositionKind::kSinusoidal;
  CheckModelConfig(config);
  EXPECT_EQ(config.MaxTargetTokens(), std::numeric_limits<int64_t>::max());
}

TEST(ModelConfigTest, RefusesFramesThatMakeNoSense) {
  const auto refused = [](const std::function<void(ModelConfig&)>& change) {
    ModelConfig config = WithVocabulary("tiny", 100);
    change(config);
    try {
      CheckModelConfig(config);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refused([](ModelConfig& c) { c.source_end = {5, 100}; }),
            "source_end has the id 100, expected ids below the vocabulary's size, 100");
  EXPECT_EQ(refused([](ModelConfig& c) {
              c.encoder.reset();
              c.target_begin = {5};
            }),
            "target_begin is given, but it is for an encoder with a decoder");
}

TEST(ModelConfigTest, JsonRoundTrip) {
  ModelConfig config = WithVocabulary("tiny", 100);
  config.decoder->activation = Activation::kSwiGlu;
  config.languages = {"en", "de"};
  config.source_begin = {7};
  config.target_begin = {8, 9};
  ModelConfig back = PresetConfig("base");
  FieldsFromJson(FieldsToJson(Fields(config)), Fields(back), "config.json");
  EXPECT_EQ(back, config);
}

// A model like Whisper, smaller.
ModelConfig FrameModel() {
  ModelConfig config = PresetConfig("whisper-tiny");
  config.target_vocab_size = 40;
  return config;
}

TEST(FrameInputTest, PresetsMakeSense) {
  ModelConfig config = FrameModel();
  CheckModelConfig(config);
  EXPECT_EQ(config.frames->padded_samples(), 480'000);
  EXPECT_EQ(config.frames->RowsOf(config.frames->FramesOf(480'000)), 1500);
  config.encoder->positions = PositionKind::kLearned;
  config.encoder->max_positions = 1500;
  CheckModelConfig(config);
  // Of the published model, and the biases of 12 attentions' keys, which it lacks.
  config.target_vocab_size = 51865;
  EXPECT_EQ(ParameterCount(config), 37'760'640 + 12 * 384);
  ModelConfig small = PresetConfig("speech-tiny");
  small.target_vocab_size = 40;
  CheckModelConfig(small);
}

TEST(FrameInputTest, RowsAreThoseOfConvolutionsByTheirDefinition) {
  for (const auto& [kernels, strides] :
       std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>>{
           {{3, 3}, {1, 2}}, {{5}, {4}}, {{3, 7, 1}, {2, 3, 2}}}) {
    FrameInput input;
    input.kernels = kernels;
    input.strides = strides;
    for (int64_t frames = 1; frames < 50; ++frames) {
      int64_t rows = frames;
      for (size_t i = 0; i < kernels.size(); ++i)
        rows = (rows + 2 * (kernels[i] / 2) - kernels[i]) / strides[i] + 1;
      EXPECT_EQ(input.RowsOf(frames), rows);
    }
  }
}

TEST(FrameInputTest, ContradictionsAreNamed) {
  const auto message = [](const std::function<void(ModelConfig&)>& change) {
    ModelConfig config = FrameModel();
    change(config);
    return Message(config);
  };
  using testing::HasSubstr;
  EXPECT_EQ(message([](ModelConfig&) {}), "");
  EXPECT_THAT(message([](auto& c) { c.frames.reset(); }), HasSubstr("contradict each other"));
  EXPECT_THAT(message([](auto& c) {
                c.decoder.reset();
                c.head = HeadKind::kNone;
              }),
              HasSubstr("for an encoder with a decoder"));
  EXPECT_THAT(message([](auto& c) { c.source_vocab_size = 5; }), HasSubstr("source_vocab_size"));
  EXPECT_THAT(message([](auto& c) {
                c.tie_source_target = true;
                c.source_vocab_size = c.target_vocab_size;
              }),
              HasSubstr("source_vocab_size is 40, expected 0"));
  EXPECT_THAT(message([](auto& c) { c.frames->fft = 401; }), HasSubstr("frames.fft is 401"));
  EXPECT_THAT(message([](auto& c) { c.frames->low = 9000; }), HasSubstr("frames.low is 9000"));
  EXPECT_THAT(message([](auto& c) { c.frames->high = 9000; }), HasSubstr("frames.high is 9000"));
  EXPECT_THAT(message([](auto& c) {
                c.frames->padded_seconds = 3600;
                c.frames->hop = 1;
              }),
              HasSubstr("frames.padded_seconds is 3600, expected less"));
  EXPECT_THAT(message([](auto& c) { c.frames->kernels = {3}; }), HasSubstr("has 1 numbers and"));
  EXPECT_THAT(message([](auto& c) { c.frames->kernels = {3, 4}; }), HasSubstr("expected odd"));
  EXPECT_THAT(message([](auto& c) {
                c.encoder->positions = PositionKind::kLearned;
                c.encoder->max_positions = 1499;
              }),
              HasSubstr("encoder.max_positions is 1499, expected at least 1500"));
}

}  // namespace
}  // namespace attend
