// The golden models: written once by format version 1, kept for ever, read by every attend since.
#include <gmock/gmock.h>

#include <fstream>

#include "attend/error.h"
#include "attend/vocabulary.h"
#include "base/files.h"
#include "base/json.h"
#include "base/sha256.h"
#include "model/model_fixture.h"
#include "model/sample.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const fs::path kData = fs::path(ATTEND_SOURCE_DIR) / "tests" / "data";

using GoldenModelTest = FolderTest;

TEST_F(GoldenModelTest, IsUntouched) {
  EXPECT_EQ(Sha256OfFile(kData / "golden_v1" / "config.json"),
            "b5ab00f21992aad3c2486d79b2e938c45a4b178a7d15652af35c679c79f662da");
  EXPECT_EQ(Sha256OfFile(kData / "golden_v1_variant" / "config.json"),
            "6e8e19829a1afb28739b1e790ec3f5bc59f4388d45e3af61afc251bbfd47d99c");
  EXPECT_THAT(CheckDigests(kData / "golden_v1"), IsEmpty());
  EXPECT_THAT(CheckDigests(kData / "golden_v1_variant"), IsEmpty());
}

TEST_F(GoldenModelTest, LoadsWithItsVocabularyAndSamples) {
  for (const char* name : {"golden_v1", "golden_v1_variant"}) {
    const auto model = LoadModel(kData / name);
    const auto source = Vocabulary::FromBytes(model->source_vocabulary, name);
    const auto target = Vocabulary::FromBytes(model->target_vocabulary, name);
    const std::vector<Sample> samples = SamplesFromJson(model->samples, model->config, name);
    EXPECT_EQ(samples.size(), 7u);
    for (const Sample& sample : samples) {
      std::vector<int32_t> ids = source->Encode(sample.source);
      ids.push_back(static_cast<int32_t>(model->config.special_ids.eos));
      EXPECT_EQ(ids, sample.source_ids);
      EXPECT_EQ(target->Decode(sample.target_ids), sample.target);
    }
  }
}

// What later versions added says nothing of an older model.
void AddDefaults(nlohmann::json* config) {
  config->update({{"format_version", kFormatVersion}, {"training_text", nullptr}});
  nlohmann::json& model = (*config)["model"];
  model.update({{"architecture", "transformer"},
                {"head_transform", false},
                {"head_pooler", false},
                {"pooler_activation", "tanh"},
                {"constituents", Json::array()},
                {"tags", Json::array()},
                {"next_word_input", false},
                {"alignment_layer", 0},
                {"patches", nullptr},
                {"frames", nullptr},
                {"suppress_tokens", Json::array()},
                {"begin_suppress_tokens", Json::array()},
                {"fusion", nullptr},
                {"pooling", "tokens"},
                {"label_scheme", "none"},
                {"crf", false},
                {"source_eos", true},
                {"source_begin", nlohmann::json::array()},
                {"source_end", nlohmann::json::array()},
                {"target_begin", nlohmann::json::array()},
                {"labels", nlohmann::json::array()}});
  for (const char* stack : {"encoder", "decoder"})
    model[stack].update({{"embedding_norm", false},
                         {"recurrence", "none"},
                         {"kernel_width", 3},
                         {"separable", false},
                         {"relative_buckets", 32},
                         {"relative_max_distance", 128},
                         {"attention_window", 0}});
}

TEST_F(GoldenModelTest, SavesAsItWas) {
  for (const std::string name : {"golden_v1", "golden_v1_variant"}) {
    SaveModel(*LoadModel(kData / name), folder_ / name);
    for (const auto& file : fs::directory_iterator(kData / name)) {
      const std::string was = ReadFile(file.path()),
                        saved = ReadFile(folder_ / name / file.path().filename());
      if (file.path().filename() != "config.json") {
        EXPECT_EQ(was, saved) << file.path();
        continue;
      }
      auto expected = nlohmann::json::parse(was);  // whose members have no order
      AddDefaults(&expected);
      EXPECT_EQ(nlohmann::json::parse(saved), expected) << file.path();
    }
  }
}

class ModelVocabularyTest : public FolderTest {
 protected:
  std::string MessageWith(const std::string& name, const std::string& file,
                          const std::string& bytes) {
    fs::remove_all(folder_ / name);
    fs::copy(kData / name, folder_ / name);
    std::ofstream(folder_ / name / file, std::ios::binary) << bytes;
    try {
      LoadModel(folder_ / name);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInput);
      return error.what();
    }
    return "";
  }
};

TEST_F(ModelVocabularyTest, MustFitTheConfiguration) {
  const std::string source = ReadFile(kData / "golden_v1_variant" / "source.spm");
  const std::string target = ReadFile(kData / "golden_v1_variant" / "target.spm");
  EXPECT_THAT(MessageWith("golden_v1", "vocab.spm", source),
              HasSubstr("has 34 pieces, expected 52"));
  EXPECT_THAT(MessageWith("golden_v1_variant", "target.spm", source),
              HasSubstr("target.spm: has 34 pieces, expected 36"));
  EXPECT_THAT(MessageWith("golden_v1_variant", "source.spm", target),
              HasSubstr("source.spm: has 36 pieces, expected 34"));
  EXPECT_THAT(MessageWith("golden_v1", "vocab.spm", ""), HasSubstr("vocab.spm: is empty"));
  EXPECT_THAT(MessageWith("golden_v1", "vocab.spm", "not a vocabulary"), HasSubstr("vocab.spm"));
  EXPECT_EQ(MessageWith("golden_v1_variant", "source.spm", source), "");
}

TEST_F(ModelVocabularyTest, SpecialIdsMustBeTheConfigurations) {
  fs::copy(kData / "golden_v1", folder_ / "model");
  const fs::path path = folder_ / "model" / "config.json";
  Json config = ParseJson(ReadFile(path), "config.json");
  config["model"]["special_ids"]["bos"] = 3;
  config["model"]["special_ids"]["eos"] = 2;
  std::ofstream(path) << config.dump();
  try {
    LoadModel(folder_ / "model");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("has pad 0, unk 1, bos 2, eos 3, expected 0, 1, 3, 2"));
  }
}

}  // namespace
}  // namespace attend
