#include "tasks/attention_labels.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

TEST(AttentionLabelsTest, SpecialTokensStandWhereTheWeightsHaveThem) {
  const auto vocabulary = Vocabulary::Load(ATTEND_SOURCE_DIR "/tests/data/golden_v1/vocab.spm");
  const std::vector<int32_t> source = vocabulary->Encode("lumi tavo"),
                             target = vocabulary->Encode("keri");
  ASSERT_GT(source.size(), 0u);
  ASSERT_GT(target.size(), 0u);
  ModelConfig config;
  const AttentionLabels labels = LabelsOf(config, {*vocabulary, source}, {*vocabulary, target});
  ASSERT_EQ(labels.source.size(), source.size() + 1);
  for (size_t i = 0; i < source.size(); ++i) {
    EXPECT_EQ(labels.source[i], vocabulary->Piece(source[i]));
  }
  EXPECT_EQ(labels.source.back(), "</s>");
  config.source_eos = false;
  EXPECT_EQ(LabelsOf(config, {*vocabulary, source}, {*vocabulary, target}).source.size(),
            source.size());
  ASSERT_EQ(labels.read.size(), target.size() + 1);
  ASSERT_EQ(labels.written.size(), target.size() + 1);
  for (size_t i = 0; i < target.size(); ++i) {
    EXPECT_EQ(labels.read[i + 1], vocabulary->Piece(target[i]));
    EXPECT_EQ(labels.written[i], vocabulary->Piece(target[i]));
  }
  EXPECT_EQ(labels.read.front(), "<s>");
  EXPECT_EQ(labels.written.back(), "</s>");
}

TEST(AttentionLabelsTest, FramesStandAroundTheTexts) {
  const auto vocabulary = Vocabulary::Load(ATTEND_SOURCE_DIR "/tests/data/golden_v1/vocab.spm");
  ModelConfig config;
  config.source_begin = {10, 11};
  config.source_end = {12};
  config.target_begin = {13};
  const std::vector<int32_t> source = {20}, target = {30, 31};
  const AttentionLabels labels = LabelsOf(config, {*vocabulary, source}, {*vocabulary, target});
  const auto pieces = [&](const std::vector<int32_t>& ids) {
    std::vector<std::string> spelled;
    for (const int32_t id : ids) spelled.push_back(vocabulary->Piece(id));
    return spelled;
  };
  EXPECT_EQ(labels.source, pieces({10, 11, 20, 3, 12}));
  EXPECT_EQ(labels.read, pieces({2, 13, 30, 31}));
  EXPECT_EQ(labels.written, pieces({13, 30, 31, 3}));
}

}  // namespace
}  // namespace attend
