#include "serve/rate_limit.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const RateLimit::Clock::time_point kStart{};

TEST(RateLimitTest, AMinutesRequestsMayComeAtOnceAndThenOneAfterTheOther) {
  RateLimit limit(6);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(limit.Take("a", kStart), 0);
  EXPECT_EQ(limit.Take("a", kStart), 10);
  EXPECT_EQ(limit.Take("a", kStart + milliseconds(9001)), 1);
  EXPECT_EQ(limit.Take("a", kStart + seconds(10)), 0);
  EXPECT_EQ(limit.Take("a", kStart + seconds(10)), 10);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(limit.Take("a", kStart + seconds(1000)), 0);
  EXPECT_GT(limit.Take("a", kStart + seconds(1000)), 0);
}

TEST(RateLimitTest, ClientsDoNotShareTheirs) {
  RateLimit limit(1);
  EXPECT_EQ(limit.Take("a", kStart), 0);
  EXPECT_EQ(limit.Take("b", kStart), 0);
  EXPECT_EQ(limit.Take("a", kStart), 60);
}

TEST(RateLimitTest, ManyClientsDoNotMakeItForgetAny) {
  RateLimit limit(1);
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(limit.Take(std::to_string(i), kStart), 0);
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(limit.Take(std::to_string(i), kStart), 60);
}

TEST(RateLimitTest, ZeroIsNoLimit) {
  RateLimit limit(0);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(limit.Take("a", kStart), 0);
}

}  // namespace
}  // namespace attend
