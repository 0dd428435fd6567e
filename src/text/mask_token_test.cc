#include "text/mask_token.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "text/tokenizer_fixture.h"
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

// <mask> hides a token where the file adds it as a token, not where it is a piece as others.
TEST(MaskToken, IsWhatTheVocabularySays) {
  VocabularyOptions options;
  options.type = VocabularyType::kBpe;
  options.size = 30;
  options.user_defined_symbols = {"<mask>"};
  const std::string path = testing::TempDir() + "mask_token.txt";
  WriteFileAtomically(path, "the cat sleeps\nthe dog sleeps\n");
  const auto trained = [&] {
    return Vocabulary::FromBytes(TrainVocabulary({path}, options, 1, NoLog()), "test");
  };
  EXPECT_EQ(MaskId(*trained()), -1);
  options.mask = true;
  EXPECT_EQ(MaskId(*trained()), trained()->Id("[MASK]"));

  Json file = WordPieceFile();
  EXPECT_EQ(MaskId(*VocabularyFrom(file)), 4);
  file["model"]["vocab"].erase("[MASK]");
  file["model"]["vocab"]["<mask>"] = 4;
  file["added_tokens"].erase(4);
  EXPECT_EQ(MaskId(*VocabularyFrom(file)), -1);
  file["added_tokens"].push_back(SpecialToken(4, "<mask>"));
  EXPECT_EQ(MaskId(*VocabularyFrom(file)), 4);
  EXPECT_THAT(EncodeWithMasks(*VocabularyFrom(file), "the [MASK]", 9).ids,
              testing::ElementsAre(2, 5, 4, 3));
}

}  // namespace
}  // namespace attend
