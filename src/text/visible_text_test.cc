#include "text/visible_text.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "text/vocabulary_trainer.h"

namespace attend {
namespace {

TEST(VisibleTextTest, LettersAndDigitsOfAnyScript) {
  for (const char* text : {"a", " - 7 ", "\u00e9", "\u4f60", "\u0661", "\u0e01", "\u00bd", "\u2167",
                           "\u03a9!", "...\U0001d400", "\u30fc"})
    EXPECT_TRUE(HasLetterOrDigit(text)) << text;
  for (const char* text :
       {"", " ", "-", "***", "\u2026", "\U0001f600", "\U0001f1e9\U0001f1ea", "\u3002\u300c\u300d",
        "\u060c", "\u20ac", "\u00a9\ufe0f", "\u200b", "\xff\xfe", "\u0301", "\u2581"})
    EXPECT_FALSE(HasLetterOrDigit(text)) << text;
}

TEST(VisibleTextTest, PiecesThatShowNothing) {
  const std::string path = testing::TempDir() + "visible_text_test.txt";
  std::ofstream(path) << "ab - cd\nab cd -- ab\n";
  VocabularyOptions options;
  options.type = VocabularyType::kBpe;
  options.byte_fallback = true;
  options.size = 274;
  options.letter_case = LetterCase::kFactor;
  const auto vocabulary =
      Vocabulary::FromBytes(TrainVocabulary({path}, options, 1, NoLog()), "test");
  std::filesystem::remove(path);
  const std::vector<uint8_t> blank = BlankPieces(*vocabulary), words = WordPieces(*vocabulary);
  ASSERT_EQ(std::ssize(blank), vocabulary->size());
  const SpecialIds special = vocabulary->special_ids();
  for (const int64_t id : {special.pad, special.bos, special.eos}) EXPECT_TRUE(blank[id]);
  EXPECT_FALSE(blank[special.unk]);
  EXPECT_TRUE(words[special.unk]);
  const auto id = [&](const char* piece) { return vocabulary->Id(piece); };
  for (const char* piece : {"\u2581", "<0x20>", "<0x0A>", "<0x09>", "\u21e7", "\u21e9"}) {
    ASSERT_NE(id(piece), special.unk) << piece;
    EXPECT_TRUE(blank[id(piece)]) << piece;
  }
  for (const char* piece : {"a", "-", "<0x41>", "<0xC3>"}) EXPECT_FALSE(blank[id(piece)]) << piece;
  EXPECT_TRUE(words[id("a")] && words[id("<0x41>")]);
  EXPECT_FALSE(words[id("-")] || words[id("\u2581")]);
}

}  // namespace
}  // namespace attend
