#include <gtest/gtest.h>

#include <numeric>

#include "cli/bench/machine.h"
#include "cli/bench/quantile.h"

namespace attend {
namespace {

TEST(QuantileTest, IsTheValueOfTheNearestRank) {
  EXPECT_EQ(Quantile({7}, 0.5), 7);
  EXPECT_EQ(Quantile({7}, 0.99), 7);
  EXPECT_EQ(Quantile({1, 2}, 0.5), 1);
  EXPECT_EQ(Quantile({1, 2}, 0.51), 2);
  EXPECT_EQ(Quantile({15, 20, 35, 40, 50}, 0.05), 15);
  EXPECT_EQ(Quantile({15, 20, 35, 40, 50}, 0.4), 20);
  EXPECT_EQ(Quantile({15, 20, 35, 40, 50}, 1), 50);
  std::vector<double> hundred(100);
  std::iota(hundred.begin(), hundred.end(), 1);
  EXPECT_EQ(Quantile(hundred, 0.5), 50);
  EXPECT_EQ(Quantile(hundred, 0.99), 99);
}

TEST(MachineTest, ThreadsShareTheMemoryThatTheyRead) {
  constexpr size_t kMiB = size_t{1} << 20;
  EXPECT_EQ(BytesReadByThread(1), 128 * kMiB);
  EXPECT_EQ(BytesReadByThread(16) * 16, 1024 * kMiB);
  EXPECT_EQ(BytesReadByThread(64) * 64, 1024 * kMiB);
  EXPECT_EQ(BytesReadByThread(1000), 16 * kMiB);  // more than a core's share of any cache
}

TEST(MachineTest, EveryRateIsMeasured) {
  for (const int threads : {1, 3}) {
    const MachineRates rates = MeasureMachine("reference", threads);
    EXPECT_GT(rates.f32, 0);
    EXPECT_GT(rates.int8, 0);
    EXPECT_GT(rates.memory, 0);
  }
}

}  // namespace
}  // namespace attend
