// What is refused of the samples of models that label pictures, items or tokens.
#include "model/sample.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "model/error_fixture.h"
#include "model/model_fixture.h"

namespace attend {
namespace {

using testing::HasSubstr;

// Of three labels, of each token or of the whole input.
ModelConfig LabelConfig(Pooling pooling) {
  ModelConfig config = SmallConfig();
  config.decoder.reset();
  config.head = HeadKind::kLabels;
  config.labels = {"a", "b", "c"};
  config.pooling = pooling;
  return config;
}

PatchInput TwoPixels() { return {.height = 1, .width = 2, .channels = 1, .patch = 1}; }

ModelConfig PictureConfig() {
  ModelConfig config = LabelConfig(Pooling::kFirst);
  config.input = InputKind::kPatches;
  config.patches = TwoPixels();
  return config;
}

ModelConfig ItemConfig() {
  ModelConfig config = LabelConfig(Pooling::kFirst);
  config.input = InputKind::kItems;
  config.fusion.emplace();
  config.fusion->patches = TwoPixels();
  return config;
}

Json Labelled(const std::vector<int32_t>& source_ids, size_t labels) {
  Sample sample;
  sample.source_ids = source_ids;
  sample.target_ids.assign(labels, 1);
  sample.token_log_probabilities.assign(labels, -0.5);
  sample.score = -0.5 * static_cast<double>(labels);
  return SamplesToJson({sample});
}

std::string MessageOf(const Json& samples, const ModelConfig& config) {
  return InputErrorOf([&] { SamplesFromJson(samples, config, "f"); });
}

TEST(SampleTest, PixelsAreHexadecimalDigits) {
  for (const ModelConfig& config : {PictureConfig(), ItemConfig()}) {
    Json samples = Labelled({}, 1);
    if (config.fusion) samples[0]["nodes"] = Json::array();
    samples[0]["pixels"] = "80ff";
    EXPECT_EQ(MessageOf(samples, config), "");
    for (const char* wrong : {"80fg", "80f", "80FF", "zz", " "}) {
      samples[0]["pixels"] = wrong;
      EXPECT_THAT(MessageOf(samples, config),
                  HasSubstr("has pixels that are not two hexadecimal digits a byte"))
          << wrong;
    }
    samples[0]["pixels"] = "80";
    EXPECT_THAT(MessageOf(samples, config), HasSubstr("has pixels of 1 bytes, expected 2"));
    samples[0]["pixels"] = "";  // an item may have no picture
    EXPECT_EQ(MessageOf(samples, config).empty(), config.fusion.has_value());
  }
}

TEST(SampleTest, AnEncoderLabelsEachTokenOrAllOfThem) {
  const ModelConfig tagger = LabelConfig(Pooling::kTokens),
                    classifier = LabelConfig(Pooling::kMean);
  EXPECT_EQ(MessageOf(Labelled({5, 6, 3}, 3), tagger), "");
  EXPECT_EQ(MessageOf(Labelled({5, 6, 3}, 1), classifier), "");
  EXPECT_THAT(MessageOf(Labelled({5, 6, 3}, 2), tagger),
              HasSubstr("has 2 target_ids, expected 3, one for each of source_ids"));
  EXPECT_THAT(MessageOf(Labelled({5, 6, 3}, 3), classifier),
              HasSubstr("has 3 target_ids, expected 1, one for the whole input"));
  // Nothing is said of the input yet.
  EXPECT_EQ(MessageOf(Labelled({5, 6, 3}, 0), tagger), "");
  EXPECT_EQ(MessageOf(Labelled({5, 6, 3}, 0), classifier), "");
}

}  // namespace
}  // namespace attend
