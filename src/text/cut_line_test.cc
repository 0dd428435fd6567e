#include "text/cut_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace attend {
namespace {

using testing::ElementsAre;

TEST(CutLine, CutsAtSpacesAndWhereThereIsNoneInsideOfWords) {
  EXPECT_THAT(CutLine("", 3), ElementsAre(""));
  EXPECT_THAT(CutLine("a bc", 4), ElementsAre("a bc"));
  EXPECT_THAT(CutLine("a bc d", 4), ElementsAre("a bc", "d"));
  EXPECT_THAT(CutLine("a bcd e", 4), ElementsAre("a", "bcd", "e"));
  EXPECT_THAT(CutLine("a bcd e", 5), ElementsAre("a bcd", "e"));
  EXPECT_THAT(CutLine("abcdefg h", 3), ElementsAre("abc", "def", "g h"));
  EXPECT_THAT(CutLine("abc ", 3), ElementsAre("abc", ""));
  EXPECT_THAT(CutLine("    ", 2), ElementsAre("  ", " "));
}

TEST(CutLine, CountsCharactersNotBytes) {
  EXPECT_THAT(CutLine("\u00E9\u4E2D\U0001F600\u00E9", 3),
              ElementsAre("\u00E9\u4E2D\U0001F600", "\u00E9"));
  EXPECT_EQ(LongestWord("\u00E9\u4E2D\U0001F600 ab"), 3u);
  EXPECT_EQ(LongestWord("a bcde f"), 4u);
  EXPECT_EQ(LongestWord(" "), 0u);
}

}  // namespace
}  // namespace attend
