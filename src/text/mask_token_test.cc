#include "text/mask_token.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "text/vocabulary_trainer.h"

namespace attend {
namespace {

std::shared_ptr<const Vocabulary> MaskVocabulary(bool mask) {
  VocabularyOptions options;
  options.type = VocabularyType::kWord;
  options.size = 12;
  options.mask = mask;
  const std::string path = testing::TempDir() + "mask_token.txt";
  WriteFileAtomically(path, "the cat sleeps\nthe dog sleeps\n");
  return Vocabulary::FromBytes(TrainVocabulary({path}, options, 1, NoLog()), "test");
}

TEST(MaskToken, StandsBetweenTheWordsOfAText) {
  const auto vocabulary = MaskVocabulary(true);
  const int32_t mask = MaskId(*vocabulary), the = vocabulary->Id("\u2581the"),
                cat = vocabulary->Id("\u2581cat");
  ASSERT_GE(mask, 0);
  const auto text = [&](const std::vector<int32_t>& ids) {
    return DecodeWithMasks(*vocabulary, ids);
  };
  EXPECT_EQ(text({}), "");
  EXPECT_EQ(text({mask}), "[MASK]");
  EXPECT_EQ(text({the, cat}), "the cat");
  EXPECT_EQ(text({the, mask, mask, cat}), "the [MASK] [MASK] cat");
  EXPECT_EQ(text({mask, the, cat, mask}), "[MASK] the cat [MASK]");
  const auto bos = static_cast<int32_t>(vocabulary->special_ids().bos);
  EXPECT_EQ(text({bos, mask, the}), "[MASK] the");
}

TEST(MaskToken, IsNotInEveryVocabulary) {
  const auto vocabulary = MaskVocabulary(false);
  EXPECT_EQ(MaskId(*vocabulary), -1);
  EXPECT_EQ(DecodeWithMasks(*vocabulary, std::vector<int32_t>{vocabulary->Id("\u2581the")}), "the");
}

}  // namespace
}  // namespace attend
