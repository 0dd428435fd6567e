#include "text/unknown_characters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "text/vocabulary_trainer.h"

namespace attend {
namespace {

std::shared_ptr<const Vocabulary> MakeVocabulary(bool byte_fallback = false) {
  VocabularyOptions options;
  options.type = VocabularyType::kBpe;
  options.size = byte_fallback ? 280 : 24;
  options.byte_fallback = byte_fallback;
  options.user_defined_symbols = {"[X]"};
  bool given = false;
  const auto next = [&](std::string* line) {
    *line = "the houses d\u00E9j\u00E0 a";
    return !std::exchange(given, true);
  };
  return Vocabulary::FromBytes(TrainVocabulary(next, options, 1, NoLog()), "test");
}

TEST(UnknownCounter, CountsCharactersWithoutAPiece) {
  UnknownCounter counter(MakeVocabulary());
  EXPECT_FALSE(counter.Add("the houses"));
  EXPECT_FALSE(counter.Add(""));
  EXPECT_EQ(counter.found().characters, 9);
  EXPECT_TRUE(counter.Add("the \u4E2D\u4E2D\u56FD \u4E2D"));  // runs are one piece each
  EXPECT_EQ(counter.found().characters, 16);
  EXPECT_EQ(counter.found().unknown, 4);
  EXPECT_EQ(counter.found().Text(),
            "4 of 16 characters (25 %), most often U+4E2D \u4E2D (3), U+56FD \u56FD (1)");
  const Json json = ToJson(counter.found());
  EXPECT_EQ(json["unknown"], 4);
  EXPECT_EQ(json["most_frequent"]["U+4E2D \u4E2D"], 3);
}

TEST(UnknownCounter, ReadsTextAsTheVocabularyDoes) {
  UnknownCounter counter(MakeVocabulary());
  EXPECT_FALSE(counter.Add("de\u0301ja\u0300"));             // composed
  EXPECT_FALSE(counter.Add("\uFF54\uFF48\uFF45\u3000the"));  // full-width letters and space
  EXPECT_FALSE(counter.Add("[X]the"));                       // a symbol of unknown characters
  EXPECT_TRUE(counter.Add("[the"));
  EXPECT_EQ(counter.found().counts.at(U'['), 1);
  EXPECT_FALSE(counter.Add("a\xFF"));  // nfkc has a space for U+FFFD
}

TEST(UnknownCharacters, OfALineInItsOrder) {
  const auto vocabulary = MakeVocabulary();
  EXPECT_EQ(UnknownCharactersOf(*vocabulary, "the \u4E2D\u4E2D\u56FD houses \u4E2D"),
            U"\u4E2D\u4E2D\u56FD\u4E2D");
  EXPECT_EQ(UnknownCharactersOf(*vocabulary, "the houses"), U"");
}

// Whose pieces have the mark of the space before them.
TEST(UnknownCharacters, OfWordsHaveNoMarkOfASpace) {
  VocabularyOptions options;
  options.type = VocabularyType::kWord;
  options.size = 6;
  bool given = false;
  const auto next = [&](std::string* line) {
    *line = "the the houses";
    return !std::exchange(given, true);
  };
  const auto vocabulary = Vocabulary::FromBytes(TrainVocabulary(next, options, 1, NoLog()), "test");
  EXPECT_EQ(UnknownCharactersOf(*vocabulary, "the \u4E2D houses"), U"\u4E2D");
}

TEST(UnknownCounter, BytesAreKnown) {
  UnknownCounter counter(MakeVocabulary(/*byte_fallback=*/true));
  EXPECT_FALSE(counter.Add("\u4E2D\U0001F600"));
  EXPECT_EQ(counter.found().Share(), 0);
  EXPECT_EQ(counter.found().Text(), "0 of 2 characters (0 %)");
}

TEST(UnknownCharacters, NamesWhatDoesNotShowByItsNumber) {
  UnknownCharacters unknown{10, 3, {{0x1B, 2}, {0x202E, 1}}};
  unknown.Add({10, 1, {{0x1B, 1}}});
  EXPECT_EQ(unknown.Text(), "4 of 20 characters (20 %), most often U+001B (3), U+202E (1)");
}

}  // namespace
}  // namespace attend
