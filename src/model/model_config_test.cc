#include "attend/model_config.h"

#include <gtest/gtest.h>

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
  config.labels.clear();
  EXPECT_THROW(CheckModelConfig(config), Error);
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

TEST(ModelConfigTest, JsonRoundTrip) {
  ModelConfig config = WithVocabulary("tiny", 100);
  config.decoder->activation = Activation::kSwiGlu;
  config.languages = {"en", "de"};
  ModelConfig back = PresetConfig("base");
  FieldsFromJson(FieldsToJson(Fields(config)), Fields(back), "config.json");
  EXPECT_EQ(back, config);
}

}  // namespace
}  // namespace attend
