#include "text/text_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

namespace attend {
namespace {

std::vector<std::string> Texts(const std::string& text, const std::vector<TextPart>& parts) {
  std::vector<std::string> texts;
  for (const TextPart& part : parts)
    texts.push_back(text.substr(part.begin, part.end - part.begin));
  return texts;
}

using Strings = std::vector<std::string>;

TEST(TextPartsTest, SentencesStandWithoutTheWhiteSpaceAroundThem) {
  const std::string text = "  One.  Two!\r\n\r\n\tThree\nfour?\u3000\u2028 Five \u00a0";
  EXPECT_EQ(Texts(text, SentenceParts(text, "en")),
            (Strings{"One.", "Two!", "Three", "four?", "Five"}));
  EXPECT_EQ(Texts(text, LineParts(text)),
            (Strings{"One.  Two!", "Three", "four?\u3000\u2028 Five"}));
}

TEST(TextPartsTest, SentencesGoTogetherWhereTheyFit) {
  const std::string text = " One.  Two. A long sentence. Six.\tTen. ";
  const auto groups = [&](size_t most) {
    return Texts(text, SentenceGroups(text, "en",
                                      [&](std::string_view part) { return part.size() <= most; }));
  };
  EXPECT_EQ(groups(0), (Strings{"One.", "Two.", "A long sentence.", "Six.", "Ten."}));
  EXPECT_EQ(groups(9), (Strings{"One.", "Two.", "A long sentence.", "Six.\tTen."}));
  EXPECT_EQ(groups(10), (Strings{"One.  Two.", "A long sentence.", "Six.\tTen."}));
  EXPECT_EQ(groups(21), (Strings{"One.  Two.", "A long sentence. Six.", "Ten."}));
  EXPECT_EQ(groups(100), (Strings{text.substr(1, text.size() - 2)}));
}

TEST(TextPartsTest, WhatFitsIsAskedFewTimes) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "One. ";
  for (const size_t most : {1, 2, 3, 7, 64, 65, 999, 1000, 2000}) {
    size_t asked = 0;
    const auto groups = SentenceGroups(text, "en", [&](std::string_view part) {
      ++asked;
      return part.size() < 5 * most;
    });
    ASSERT_EQ(groups.size(),
              (1000 + std::min<size_t>(most, 1000) - 1) / std::min<size_t>(most, 1000));
    EXPECT_EQ(groups.front().end, 5 * std::min<size_t>(most, 1000) - 1);
    EXPECT_LE(asked, groups.size() * (2 * std::bit_width(most) + 1)) << most;
  }
}

TEST(TextPartsTest, WhatStandsBetweenIsKept) {
  const std::string text = "  One.  Two!\r\n\r\n\tThree\nfour?\u3000 Five \u00a0";
  for (const auto& parts : {SentenceParts(text, "en"), LineParts(text)}) {
    EXPECT_EQ(ReplaceParts(text, parts,
                           [&](size_t i) {
                             return std::string_view(text).substr(parts[i].begin,
                                                                  parts[i].end - parts[i].begin);
                           }),
              text);
  }
  EXPECT_EQ(ReplaceParts(text, SentenceParts(text, "en"), [](size_t) { return "x"; }),
            "  x  x\r\n\r\n\tx\nx\u3000 x \u00a0");
}

TEST(TextPartsTest, SentencesThatNothingDividesAreJoinedAsTheirScriptIsWritten) {
  const std::string chinese = "\u4f60\u597d\u3002\u4e16\u754c\u3002";
  const std::vector<TextPart> parts = SentenceParts(chinese, "zh");
  ASSERT_EQ(parts.size(), 2u);
  const auto joined = [&](const char* first, const char* second) {
    return ReplaceParts(chinese, parts, [&](size_t i) { return i == 0 ? first : second; });
  };
  EXPECT_EQ(joined("Hello.", "World."), "Hello. World.");
  EXPECT_EQ(joined("\u5c0d\u3002", "\u4e16\u3002"), "\u5c0d\u3002\u4e16\u3002");
  EXPECT_EQ(joined("", "World."), "World.");
  EXPECT_EQ(joined("Hello. ", "World."), "Hello. World.");
  EXPECT_EQ(joined("\xff", "World."), "\xff World.");
}

TEST(TextPartsTest, RunsOfSpacesBecomeOne) {
  EXPECT_EQ(WithSingleSpaces("  a  b c   "), "a b c");
  EXPECT_EQ(WithSingleSpaces("   "), "");
}

TEST(TextPartsTest, LineEndsBecomeSpaces) {
  EXPECT_EQ(WithoutLineEnds(" \r\n\v\f\x1c\u0085\u2028\u2029\t\u3000"), "         \t\u3000");
}

TEST(TextPartsTest, BlankTextsHaveNoParts) {
  for (const std::string text : {"", " ", "\n", "\r\n \t\n", "\u3000\u2029"}) {
    EXPECT_TRUE(SentenceParts(text, "").empty());
    EXPECT_TRUE(SentenceGroups(text, "", [](std::string_view) { return true; }).empty());
    EXPECT_TRUE(LineParts(text).empty());
    EXPECT_EQ(ReplaceParts(text, {}, [](size_t) { return "x"; }), text);
  }
}

TEST(TextPartsTest, BytesThatAreNotUtf8AreText) {
  const std::string text = " \xff \xc3. \x80 ";
  EXPECT_EQ(Texts(text, LineParts(text)), (Strings{"\xff \xc3. \x80"}));
}

TEST(TextPartsTest, AnEllipsisAloneMayEndASentence) {
  const std::string text = "He waited\u2026 Then he left";
  std::vector<std::string> parts;
  for (const TextPart& part : SentenceParts(text, "en"))
    parts.push_back(text.substr(part.begin, part.end - part.begin));
  EXPECT_EQ(parts, (std::vector<std::string>{"He waited\u2026", "Then he left"}));
}

}  // namespace
}  // namespace attend
