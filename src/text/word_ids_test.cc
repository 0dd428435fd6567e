#include "text/word_ids.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "text/vocabulary_trainer.h"

namespace attend {
namespace {

using testing::ElementsAre;

constexpr const char* kSpaceToken = "\u2581";

std::shared_ptr<const Vocabulary> WordIdsVocabulary(VocabularyType type) {
  VocabularyOptions options;
  options.type = type;
  options.size = 10;
  const std::string path = testing::TempDir() + "word_ids.txt";
  WriteFileAtomically(path, "abc abc ab c\nab\n");
  return Vocabulary::FromBytes(TrainVocabulary({path}, options, 1, NoLog()), "test");
}

std::shared_ptr<const Vocabulary> Characters() { return WordIdsVocabulary(VocabularyType::kChar); }

std::vector<std::string> Pieces(const Vocabulary& vocabulary, const WordPart& part) {
  std::vector<std::string> pieces;
  for (const int32_t id : part.ids) pieces.push_back(vocabulary.Piece(id));
  return pieces;
}

TEST(WordIds, SayWhereWordsBegin) {
  const auto vocabulary = Characters();
  const std::vector<std::string> words = {"ab", "", "c"};
  const auto parts = EncodeWords(*vocabulary, words, 100);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_THAT(Pieces(*vocabulary, parts[0]),
              ElementsAre("<s>", "a", "b", kSpaceToken, "<unk>", kSpaceToken, "c", "</s>"));
  EXPECT_THAT(parts[0].first_tokens, ElementsAre(1, 4, 6));
  EXPECT_THAT(Pieces(*vocabulary, EncodeWords(*vocabulary, {}, 5)[0]), ElementsAre("<s>", "</s>"));
}

TEST(WordIds, AreDividedBetweenWords) {
  const auto vocabulary = Characters();
  const std::vector<std::string> words = {"ab", "c", "abcabc", "b"};
  const auto parts = EncodeWords(*vocabulary, words, 4);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_THAT(Pieces(*vocabulary, parts[0]),
              ElementsAre("<s>", "a", "b", kSpaceToken, "c", "</s>"));
  EXPECT_THAT(parts[0].first_tokens, ElementsAre(1, 4));
  EXPECT_EQ(parts[1].first_word, 2);
  EXPECT_THAT(Pieces(*vocabulary, parts[1]), ElementsAre("<s>", "a", "b", "c", "a", "</s>"));
  EXPECT_EQ(parts[2].first_word, 3);
  EXPECT_THAT(parts[2].first_tokens, ElementsAre(1));
  // The space counts.
  EXPECT_EQ(EncodeWords(*vocabulary, words, 3).size(), 4U);
}

// A model reads "a b" otherwise than "ab".
TEST(WordIds, KeepWordsApart) {
  for (const auto type : {VocabularyType::kBpe, VocabularyType::kWord, VocabularyType::kChar}) {
    const auto vocabulary = WordIdsVocabulary(type);
    const std::vector<std::string> two = {"ab", "c"}, one = {"abc"};
    EXPECT_NE(EncodeWords(*vocabulary, two, 9)[0].ids, EncodeWords(*vocabulary, one, 9)[0].ids);
  }
}

TEST(WordIds, OfATextAreItsBeginning) {
  const auto vocabulary = Characters();
  const TextIds whole = EncodeCut(*vocabulary, "abc", 3), cut = EncodeCut(*vocabulary, "abca", 3);
  EXPECT_FALSE(whole.cut);
  EXPECT_TRUE(cut.cut);
  EXPECT_EQ(whole.ids, cut.ids);
  EXPECT_EQ(whole.ids.size(), 5U);
}

}  // namespace
}  // namespace attend
