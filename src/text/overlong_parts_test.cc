#include "text/overlong_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace attend {
namespace {

using Parts = std::vector<TextPart>;
using Strings = std::vector<std::string>;

Parts Divide(const std::string& text, size_t most_bytes, const Parts& spans = {}) {
  return FittingParts(
      text, [&](std::string_view part) { return part.size() <= most_bytes; }, spans);
}

Strings Divided(const std::string& text, size_t most_bytes, const Parts& spans = {}) {
  Strings texts;
  for (const TextPart& part : Divide(text, most_bytes, spans))
    texts.push_back(text.substr(part.begin, part.end - part.begin));
  return texts;
}

// All that is no white space between parts, each of which fits.
void ExpectNothingLost(const std::string& text, size_t most_bytes) {
  size_t done = 0;
  for (const TextPart& part : Divide(text, most_bytes)) {
    for (; done < part.begin; ++done) ASSERT_EQ(text[done], ' ');
    ASSERT_LE(part.end - part.begin, most_bytes);
    ASSERT_TRUE((text[part.begin] & 0xC0) != 0x80);
    done = part.end;
  }
  EXPECT_EQ(done, text.size());
}

TEST(OverlongPartsTest, WhatFitsIsWhole) {
  EXPECT_EQ(Divided("One, two", 8), (Strings{"One, two"}));
  EXPECT_EQ(Divided("", 0), (Strings{""}));
}

TEST(OverlongPartsTest, ClausesComeBeforeWordsAndWordsBeforeCharacters) {
  const std::string text = "Red fish, blue fish; 1,000 fish: abcdefghijkl";
  EXPECT_EQ(Divided(text, 44), (Strings{"Red fish, blue fish; 1,000 fish:", "abcdefghijkl"}));
  EXPECT_EQ(Divided(text, 20), (Strings{"Red fish, blue fish;", "1,000 fish:", "abcdefghijkl"}));
  EXPECT_EQ(Divided(text, 10),
            (Strings{"Red fish,", "blue fish;", "1,000", "fish:", "abcdefghij", "kl"}));
}

TEST(OverlongPartsTest, ClausesOfOtherScripts) {
  EXPECT_EQ(Divided("我喜欢鱼，你喜欢茶。", 18), (Strings{"我喜欢鱼，", "你喜欢茶。"}));
  EXPECT_EQ(Divided("أحب السمك، وأنت", 20), (Strings{"أحب السمك،", "وأنت"}));
}

TEST(OverlongPartsTest, WordsOfScriptsWithoutSpacesAreWhole) {
  EXPECT_EQ(Divided("ภาษาไทยง่าย", 24), (Strings{"ภาษาไทย", "ง่าย"}));
  EXPECT_EQ(Divided("東京都に住む", 13), (Strings{"東京都に", "住む"}));
}

TEST(OverlongPartsTest, CharactersAreDividedWhereTheyAloneAreTooLong) {
  const std::string letter = "e\u0301";  // 3 bytes
  EXPECT_EQ(Divided(letter + letter + letter, 7), (Strings{letter + letter, letter}));
  const std::string marks = letter + "\u0301\u0301\u0301";  // one grapheme cluster of 9 bytes
  EXPECT_EQ(Divided("ab" + marks, 5), (Strings{"ab", letter + "\u0301", "\u0301\u0301"}));
  EXPECT_EQ(Divided("a\U0001F600", 3), (Strings{"a", "\U0001F600"}));  // nothing can be done
}

TEST(OverlongPartsTest, SpansAreCutWhereTheyAloneAreTooLong) {
  const std::string text = "see a.b, c.d/e-f and g";
  EXPECT_EQ(Divided(text, 8), (Strings{"see a.b,", "c.d/e-f", "and g"}));
  EXPECT_EQ(Divided(text, 12, {{4, 16}}), (Strings{"see", "a.b, c.d/e-f", "and g"}));
  EXPECT_EQ(Divided(text, 8, {{4, 16}}), (Strings{"see", "a.b, c.d", "/e-f", "and g"}));
}

TEST(OverlongPartsTest, PartsThatBeginInAWordAreMarked) {
  const auto in_word = [](const std::string& text, size_t most) {
    std::vector<bool> marks;
    for (const TextPart& part : Divide(text, most)) marks.push_back(part.in_word);
    return marks;
  };
  using Marks = std::vector<bool>;
  EXPECT_EQ(in_word("abcdef gh", 4), (Marks{false, true, false}));
  EXPECT_EQ(in_word("a/b/c", 2), (Marks{false, true, true}));
  EXPECT_EQ(in_word("我喜欢鱼", 6), (Marks{false, false, false}));
  EXPECT_EQ(in_word("ภาษาไทยง่าย", 24), (Marks{false, false}));
}

TEST(OverlongPartsTest, NothingIsLostOfHostileText) {
  std::string marks = "a", url = "http://example.org/?q=", chinese, thai, spaces = "a";
  while (marks.size() < 100000) marks += "\u0301";
  while (url.size() < 100000) url += "x%20y&z=";
  while (chinese.size() < 100000) chinese += "天地玄黄";
  while (thai.size() < 100000) thai += "ภาษาไทยง่าย";
  spaces.resize(100000, ' ');
  spaces += "b";
  for (const std::string& text :
       {std::string(100000, 'a'), marks, url, chinese, thai, spaces, std::string(5000, ',')}) {
    for (const size_t most : {4, 7, 512}) ExpectNothingLost(text, most);
  }
}

}  // namespace
}  // namespace attend
