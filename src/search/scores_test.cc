#include "search/scores.h"

#include <gmock/gmock.h>

namespace attend {
namespace {

TEST(Scores, AreSummedWithoutOverflow) {
  const std::vector<double> scores = {0.5, -1, 2};
  const ExpSum sum{std::span<const double>(scores)};
  EXPECT_DOUBLE_EQ(sum.Log(), std::log(std::exp(0.5) + std::exp(-1) + std::exp(2)));
  EXPECT_DOUBLE_EQ(sum.Share(2), std::exp(2) / (std::exp(0.5) + std::exp(-1) + std::exp(2)));
  const std::vector<float> large = {1000, 1000};
  EXPECT_DOUBLE_EQ(ExpSum(std::span<const float>(large)).Log(), 1000 + std::log(2));
  const double never = -std::numeric_limits<double>::infinity();
  const std::vector<double> nothing = {never, never};
  EXPECT_EQ(ExpSum(std::span<const double>(nothing)).Log(), never);
}

TEST(Scores, OfTheBestIdsAreInOrder) {
  const std::vector<float> scores_V = {1, 3, 2, 3, -1};
  EXPECT_THAT(BestIds(scores_V, {0, 1, 2, 3, 4}, 3), testing::ElementsAre(1, 3, 2));
  EXPECT_THAT(BestIds(scores_V, {4, 3, 0}, 9), testing::ElementsAre(3, 0, 4));
  EXPECT_TRUE(BestIds(scores_V, {}, 2).empty());
}

}  // namespace
}  // namespace attend
