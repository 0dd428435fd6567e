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
  const AttentionLabels labels = LabelsOf({*vocabulary, source}, {*vocabulary, target});
  ASSERT_EQ(labels.source.size(), source.size() + 1);
  for (size_t i = 0; i < source.size(); ++i) {
    EXPECT_EQ(labels.source[i], vocabulary->Piece(source[i]));
  }
  EXPECT_EQ(labels.source.back(), "</s>");
  EXPECT_EQ(LabelsOf({*vocabulary, source, false}, {*vocabulary, target}).source.size(),
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

}  // namespace
}  // namespace attend
