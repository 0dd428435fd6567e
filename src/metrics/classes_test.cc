#include "metrics/classes.h"

#include <gmock/gmock.h>

#include "attend/error.h"

namespace attend {
namespace {

TEST(Classes, AreCountedByWhatWasExpectedAndFound) {
  const ClassScores scores =
      ScoreClasses({"cat", "cat", "dog", "cow"}, {"cat", "dog", "dog", "cat"});
  EXPECT_THAT(scores.classes, testing::ElementsAre("cat", "cow", "dog"));
  EXPECT_EQ(scores.confusion, (std::vector<std::vector<int64_t>>{{1, 1, 0}, {0, 0, 0}, {1, 0, 1}}));
  EXPECT_DOUBLE_EQ(scores.accuracy(), 50);
  EXPECT_DOUBLE_EQ(scores.precision(0), 50);
  EXPECT_DOUBLE_EQ(scores.recall(2), 50);
  EXPECT_DOUBLE_EQ(scores.f1(2), 200.0 / 3);
  EXPECT_DOUBLE_EQ(scores.macro_f1(), (50 + 0 + 200.0 / 3) / 3);
}

TEST(Classes, NeedItems) {
  EXPECT_THROW(ScoreClasses({}, {}), Error);
  EXPECT_THROW(ScoreClasses({"a"}, {}), Error);
}

}  // namespace
}  // namespace attend
