#include "base/excerpt.h"

#include <gtest/gtest.h>

#include <string>

#include "attend/error.h"

namespace attend {
namespace {

TEST(ExcerptTest, ControlCharactersBecomeEscapes) {
  EXPECT_EQ(Printable("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(Printable("\x1b[31m\x7f"), "\\u001B[31m\\u007F");
  EXPECT_EQ(Printable(std::string_view("\0", 1)), "\\u0000");
  EXPECT_EQ(Printable("\u0085\u009b\u2028\u2029"), "\\u0085\\u009B\\u2028\\u2029");
  for (const char* mark : {"\u061c", "\u200e", "\u200f", "\u202a", "\u202b", "\u202c", "\u202d",
                           "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"}) {
    EXPECT_EQ(Printable(mark).size(), 6) << Printable(mark);
  }
}

TEST(ExcerptTest, WhatIsNotUtf8BecomesEscapes) {
  EXPECT_EQ(Printable("a\xff\xc3"), "a\\xFF\\xC3");
  EXPECT_EQ(Printable("\xc0\x8a"), "\\xC0\\x8A");                    // a line end, overlong
  EXPECT_EQ(Printable("\xed\xa0\x80"), "\\xED\\xA0\\x80");           // a surrogate
  EXPECT_EQ(Printable("\xf4\x90\x80\x80"), "\\xF4\\x90\\x80\\x80");  // beyond U+10FFFF
}

TEST(ExcerptTest, OtherTextStays) {
  const std::string text =
      "a \\ 'ä' 中文 \u0645\u06cc\u200c\u062e\u0648 \U0001f600\u200d\u2581\u00a0";
  EXPECT_EQ(Printable(text), text);
  EXPECT_EQ(Printable(Printable("a\n")), "a\\n");
}

TEST(ExcerptTest, IsCutBetweenCharacters) {
  EXPECT_EQ(Excerpt("x\u00e4\u00e4", 4), "x\u00e4...");
  EXPECT_EQ(Excerpt("x\u00e4", 3), "x\u00e4");
  EXPECT_EQ(Excerpt("\n\n\n", 2), "\\n\\n...");
}

TEST(ExcerptTest, AnErrorIsOnePrintableLine) {
  EXPECT_STREQ(Error(ErrorKind::kInput, "tensor 'a\n\x9b' is unknown").what(),
               "tensor 'a\\n\\x9B' is unknown");
}

}  // namespace
}  // namespace attend
