#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace attend {
namespace {

TEST(RandomTest, KeyDecidesTheStream) {
  EXPECT_EQ(Random({1, 2}).Next(), Random({1, 2}).Next());
  std::set<uint64_t> first;
  for (uint64_t a = 0; a < 30; ++a) {
    for (uint64_t b = 0; b < 30; ++b) first.insert(Random({a, b}).Next());
    first.insert(Random({a}).Next());
  }
  EXPECT_EQ(first.size(), 930u);
}

TEST(RandomTest, UniformAndNormalHaveTheRightMoments) {
  Random random({7});
  double sum = 0, normal_sum = 0, normal_squares = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    sum += random.Uniform();
    const double x = random.Normal();
    normal_sum += x;
    normal_squares += x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.005);
  EXPECT_NEAR(normal_sum / kDraws, 0, 0.02);
  EXPECT_NEAR(normal_squares / kDraws, 1, 0.02);
}

TEST(RandomTest, ShuffleIsAPermutation) {
  std::vector<int> items(100);
  std::iota(items.begin(), items.end(), 0);
  std::vector<int> shuffled = items;
  Random({1}).Shuffle(&shuffled);
  EXPECT_NE(shuffled, items);
  std::sort(shuffled.begin(), shuffled.end());
  EXPECT_EQ(shuffled, items);
}

}  // namespace
}  // namespace attend
