#include <gtest/gtest.h>

#include "attend/error.h"
#include "cli/translate/progress.h"
#include "cli/translate/shard.h"

namespace attend {
namespace {

TEST(LineShardTest, ShardsMakeUpTheFile) {
  for (const int64_t lines : {0, 1, 7, 8, 9, 1000}) {
    for (const int64_t count : {1, 2, 3, 8, 13}) {
      int64_t next = 1;
      for (int64_t index = 1; index <= count; ++index) {
        const auto [first, last] = LineShard{index, count}.LinesOf(lines);
        EXPECT_EQ(first, next);
        EXPECT_LE(last - first + 1, (lines + count - 1) / count);
        EXPECT_GE(last - first + 1, lines / count);
        next = last + 1;
      }
      EXPECT_EQ(next, lines + 1);
    }
  }
  EXPECT_EQ((LineShard{999999, 1000000}.LinesOf(int64_t{1} << 60).second),
            (LineShard{1000000, 1000000}.LinesOf(int64_t{1} << 60).first - 1));
}

TEST(LineShardTest, OnlyTwoNumbersThatFitAreAShard) {
  const LineShard shard = LineShard::Parse("3/8");
  EXPECT_EQ(shard.index, 3);
  EXPECT_EQ(shard.count, 8);
  EXPECT_TRUE(LineShard::Parse("").IsWhole());
  EXPECT_TRUE(LineShard::Parse("1/1").IsWhole());
  for (const char* text : {"0/4", "5/4", "3", "3/", "/3", "a/b", "1/0", "-1/4", "1/2/3", " 1/2",
                           "1/2 ", "+1/2", "1.0/2", "1/1000001", "1/99999999999999999999"}) {
    EXPECT_THROW(LineShard::Parse(text), Error) << text;
  }
}

TEST(ProgressTest, DurationsHaveTheirTwoLargestUnits) {
  EXPECT_EQ(DurationText(0), "0 s");
  EXPECT_EQ(DurationText(0.2), "1 s");
  EXPECT_EQ(DurationText(59), "59 s");
  EXPECT_EQ(DurationText(60), "1 min");
  EXPECT_EQ(DurationText(125), "2 min 5 s");
  EXPECT_EQ(DurationText(7500), "2 h 5 min");
  EXPECT_EQ(DurationText(3 * 86400 + 4 * 3600 + 59), "3 d 4 h");
}

TEST(ProgressTest, TimeLeftFollowsFromWhatThisCallHasDone) {
  WorkDone done{.line = 500, .lines = 400, .tokens = 4000, .seconds = 20};
  EXPECT_EQ(ProgressText(done), "line 500, 20.0 lines/s, 200 tokens/s");
  done.fraction = 0.5;
  done.begun_at = 0.1;
  EXPECT_EQ(ProgressText(done), "line 500 (50 %), 20.0 lines/s, 200 tokens/s, 25 s left");
  done.fraction = 1;
  EXPECT_EQ(ProgressText(done), "line 500 (100 %), 20.0 lines/s, 200 tokens/s, 0 s left");
}

}  // namespace
}  // namespace attend
