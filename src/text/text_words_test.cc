#include "text/text_words.h"

#include <gmock/gmock.h>

namespace attend {
namespace {

using testing::ElementsAre;

std::vector<std::string> JustWords(const std::string& text) {
  std::vector<std::string> words;
  for (const TextWord& word : WordsOfText(text))
    words.push_back(text.substr(word.begin, word.end - word.begin));
  return words;
}

TEST(TextWords, StandAlone) {
  EXPECT_THAT(JustWords("Kanchipuram sarees are known for silk body, and zari-rich pallus."),
              ElementsAre("Kanchipuram", "sarees", "are", "known", "for", "silk", "body", ",",
                          "and", "zari-rich", "pallus", "."));
  EXPECT_THAT(
      JustWords(" (\"1,000.5\")\t\xE2\x80\x9Cja\xE2\x80\x9D\xC2\xA0x "),
      ElementsAre("(", "\"", "1,000.5", "\"", ")", "\xE2\x80\x9C", "ja", "\xE2\x80\x9D", "x"));
  EXPECT_THAT(JustWords("so... -- $5"), ElementsAre("so", ".", ".", ".", "-", "-", "$", "5"));
  EXPECT_TRUE(JustWords("").empty());
  EXPECT_TRUE(JustWords(" \n").empty());
}

TEST(TextWords, KeepAbbreviationsAndCutEnglishEndings) {
  EXPECT_THAT(JustWords("J. Smith's U.S. firm didn't."),
              ElementsAre("J.", "Smith", "'s", "U.S.", "firm", "did", "n't", "."));
  EXPECT_THAT(JustWords("They're 'so' 's"), ElementsAre("They", "'re", "'", "so", "'", "'", "s"));
  EXPECT_THAT(
      JustWords("Smith\u2019s firm Didn\u2019T. \u2019so\u2019"),
      ElementsAre("Smith", "\u2019s", "firm", "Did", "n\u2019T", ".", "\u2019", "so", "\u2019"));
}

TEST(TextWords, AreJoinedByBlanks) {
  std::vector<TextWord> where;
  const std::vector<std::string> words = {"silk", "\u00E9", "of"};
  const std::string text = JoinWords(words, &where);
  EXPECT_EQ(text, "silk \u00E9 of");
  ASSERT_EQ(where.size(), words.size());
  for (size_t i = 0; i < words.size(); ++i)
    EXPECT_EQ(text.substr(where[i].begin, where[i].end - where[i].begin), words[i]);
  EXPECT_EQ(JoinWords({}), "");
}

}  // namespace
}  // namespace attend
