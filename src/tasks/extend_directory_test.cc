#include "tasks/extend_directory.h"

#include <gmock/gmock.h>

#include <cstring>

#include "attend/error.h"
#include "attend/vocabulary.h"
#include "model/quantize.h"
#include "tasks/label_model_fixture.h"
#include "tasks/samples.h"

namespace attend {
namespace {

const std::vector<std::string> kNewTokens = {">>xx<<", "Quokka"};

std::shared_ptr<Model> WithVocabulary(ModelConfig config) {
  const auto golden = LoadModel(ATTEND_SOURCE_DIR "/tests/data/golden_v1");
  auto model = std::make_shared<Model>();
  model->config = std::move(config);
  model->tensors = RandomTensors(model->config, 7, 0.5);
  model->source_vocabulary = model->target_vocabulary = golden->target_vocabulary;
  return model;
}

int64_t GoldenSize() {
  return LoadModel(ATTEND_SOURCE_DIR "/tests/data/golden_v1")->config.target_vocab_size;
}

// The mean, in f64, of the rows that the old vocabulary has for what is new of the token.
std::vector<float> Mean(const Model& model, const std::string& tensor, const std::string& token) {
  const TensorView& table = model.tensors.Get(tensor);
  const auto vocabulary = Vocabulary::FromBytes(model.source_vocabulary, "test");
  std::vector<int32_t> ids = vocabulary->Encode(token);
  if (vocabulary->Piece(ids[0]) == "\u2581") ids.erase(ids.begin());
  const int64_t width = table.elements() / table.shape[0];
  std::vector<float> mean;
  for (int64_t d = 0; d < width; ++d) {
    double sum = 0;
    for (const int32_t id : ids) sum += table.f32()[id * width + d];
    mean.push_back(static_cast<float>(sum / static_cast<double>(ids.size())));
  }
  return mean;
}

void CheckRows(const Model& before, const Model& now, const std::string& name) {
  const TensorView &old = before.tensors.Get(name), &extended = now.tensors.Get(name);
  ASSERT_EQ(extended.shape[0], old.shape[0] + 2) << name;
  EXPECT_EQ(std::memcmp(old.f32(), extended.f32(), old.bytes()), 0) << name;
  const int64_t width = old.elements() / old.shape[0];
  for (int64_t i = 0; i < 2; ++i) {
    const float* row = extended.f32() + old.elements() + i * width;
    EXPECT_EQ(std::vector<float>(row, row + width), Mean(before, name, kNewTokens[i])) << name;
  }
}

ModelConfig SmallParser() {
  ModelConfig config = SmallConfig(GoldenSize());
  config.task = "parsing";
  config.languages = {"ka"};
  config.source_begin = {static_cast<int32_t>(config.special_ids.bos)};
  config.constituents = {"NP", "S"};
  config.tags = {"DT", "NN"};
  config.next_word_input = true;
  config.tie_source_target = false;
  config.tie_target_output = false;
  config.target_vocab_size = 10;  // below the ids of some pieces
  return config;
}

ModelConfig SmallTranscriber() {
  ModelConfig config = PresetConfig("speech-tiny");
  config.task = "transcription";
  config.target_vocab_size = GoldenSize();
  config.special_ids = SmallConfig(GoldenSize()).special_ids;
  config.encoder->layers = config.decoder->layers = 1;
  return config;
}

TEST(ExtendModel, AddsRowsThatAreMeans) {
  ModelConfig untied = SmallConfig(GoldenSize()), language = SmallLanguageModel(GoldenSize()),
              masked = SmallConfig(GoldenSize());
  untied.tie_source_target = untied.tie_target_output = false;
  untied.head_bias = language.head_bias = true;
  masked.task = "masked_language_model";
  masked.decoder.reset();
  masked.head_bias = masked.head_transform = true;
  const std::vector<std::pair<ModelConfig, std::vector<std::string>>> cases = {
      {SmallConfig(GoldenSize()), {"encoder.embedding.weight"}},
      {untied,
       {"encoder.embedding.weight", "decoder.embedding.weight", "head.weight", "head.bias"}},
      {language, {"decoder.embedding.weight", "head.bias"}},
      {masked, {"encoder.embedding.weight", "head.bias"}},
      {MakeLabelModel("tagging", Pooling::kTokens, {"O", "B-X", "I-X"})->config,
       {"encoder.embedding.weight"}},
      {MakeItemModel()->config, {"text.embedding.weight"}},
      {SmallParser(), {"encoder.embedding.weight"}},
      {SmallTranscriber(), {"decoder.embedding.weight"}}};
  for (const auto& [config, names] : cases) {
    const auto before = WithVocabulary(config);
    const auto now = ExtendModel(before, kNewTokens);
    CheckTensors(now->tensors, now->config, "test");
    for (const std::string& name : names) CheckRows(*before, *now, name);
    for (const TensorView& tensor : before->tensors.tensors()) {
      if (std::ranges::count(names, tensor.name) > 0) continue;
      EXPECT_EQ(tensor.data, now->tensors.Get(tensor.name).data) << tensor.name;
    }
    EXPECT_EQ(now->provenance["added_tokens"], Json(kNewTokens));
  }
}

TEST(ExtendModel, SaysWhyNot) {
  const auto message = [](const std::shared_ptr<const Model>& model,
                          const std::vector<std::string>& tokens) {
    try {
      ExtendModel(model, tokens);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto model = WithVocabulary(SmallConfig(GoldenSize()));
  EXPECT_THAT(message(model, {}), testing::HasSubstr("no new token is given"));
  EXPECT_THAT(message(QuantizeModel(*model), kNewTokens), testing::HasSubstr("int8 weights"));
  EXPECT_THAT(message(std::make_shared<Model>(SmallModel()), kNewTokens),
              testing::HasSubstr("has no vocabulary"));
}

class ExtendDirectoryTest : public FolderTest {};

TEST_F(ExtendDirectoryTest, HasSamplesThatAgree) {
  const std::string golden = ATTEND_SOURCE_DIR "/tests/data/golden_v1";
  EXPECT_EQ(ExtendDirectory(golden, kNewTokens, folder_ / "more"), GoldenSize());
  const auto before = LoadModel(golden), now = LoadModel(folder_ / "more");
  const auto old_samples = SamplesFromJson(before->samples, before->config, "test"),
             samples = SamplesFromJson(now->samples, now->config, "test");
  ASSERT_EQ(samples.size(), old_samples.size() + 1);
  const auto found = ReplaySamples(*Load(now), samples, 1);
  for (size_t i = 0; i < samples.size(); ++i) {
    for (size_t t = 0; t < found[i].size(); ++t)
      EXPECT_NEAR(found[i][t], samples[i].token_log_probabilities[t], 1e-6);
    if (i < old_samples.size()) EXPECT_EQ(samples[i].source_ids, old_samples[i].source_ids);
  }
  const std::vector<int32_t>& ids = samples.back().source_ids;
  for (int32_t id = 0; id < 2; ++id)
    EXPECT_EQ(std::ranges::count(ids, static_cast<int32_t>(GoldenSize()) + id), 1);
  EXPECT_THROW(ExtendDirectory(folder_ / "more", kNewTokens, folder_ / "more"), Error);
}

}  // namespace
}  // namespace attend
