#include "text/word_ids.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "text/vocabulary_trainer.h"

namespace attend {
namespace {

using testing::ElementsAre;

std::shared_ptr<const Vocabulary> Characters() {
  VocabularyOptions options;
  options.type = VocabularyType::kChar;
  const std::string path = testing::TempDir() + "word_ids.txt";
  WriteFileAtomically(path, "abc abc\n");
  return Vocabulary::FromBytes(TrainVocabulary({path}, options, 1, NoLog()), "test");
}

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
  EXPECT_THAT(Pieces(*vocabulary, parts[0]), ElementsAre("<s>", "a", "b", "<unk>", "c", "</s>"));
  EXPECT_THAT(parts[0].places, ElementsAre(1, 3, 4));
  EXPECT_THAT(Pieces(*vocabulary, EncodeWords(*vocabulary, {}, 5)[0]), ElementsAre("<s>", "</s>"));
}

TEST(WordIds, AreDividedBetweenWords) {
  const auto vocabulary = Characters();
  const std::vector<std::string> words = {"ab", "c", "abcabc", "b"};
  const auto parts = EncodeWords(*vocabulary, words, 3);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_THAT(Pieces(*vocabulary, parts[0]), ElementsAre("<s>", "a", "b", "c", "</s>"));
  EXPECT_THAT(parts[0].places, ElementsAre(1, 3));
  EXPECT_EQ(parts[1].first_word, 2);
  EXPECT_THAT(Pieces(*vocabulary, parts[1]), ElementsAre("<s>", "a", "b", "c", "</s>"));
  EXPECT_EQ(parts[2].first_word, 3);
  EXPECT_THAT(parts[2].places, ElementsAre(1));
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
