#include "attend/nn/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/error.h"

namespace attend::nn {
namespace {

// Values worked out by hand from section 5.3's formula for the base model: 512^-0.5 * 4000^-1.5
// = 1.746928e-7 a step.
TEST(ScheduleTest, NoamIsThePapersFormula) {
  ScheduleConfig config;
  EXPECT_NEAR(LearningRate(config, 1), 1.746928107421711e-07, 1e-19);
  EXPECT_NEAR(LearningRate(config, 2000), 3.493856214843422e-04, 1e-16);
  EXPECT_NEAR(LearningRate(config, 4000), 6.987712429686844e-04, 1e-16);  // the peak
  EXPECT_NEAR(LearningRate(config, 16000), 3.493856214843422e-04,
              1e-16);  // four times later, half of it
  EXPECT_NEAR(LearningRate(config, 100000), 1.3975424859373688e-04, 1e-16);
  config.noam_scale = 2;
  EXPECT_NEAR(LearningRate(config, 4000), 2 * 6.987712429686844e-04, 1e-16);
}

TEST(ScheduleTest, InverseSqrtRisesToItsPeakAndFallsByTheRoot) {
  ScheduleConfig config{ScheduleKind::kInverseSqrt, 3e-3};
  config.warmup_updates = 1000;
  EXPECT_DOUBLE_EQ(LearningRate(config, 1), 3e-6);
  EXPECT_DOUBLE_EQ(LearningRate(config, 500), 1.5e-3);
  EXPECT_DOUBLE_EQ(LearningRate(config, 1000), 3e-3);
  EXPECT_DOUBLE_EQ(LearningRate(config, 4000), 1.5e-3);
  EXPECT_DOUBLE_EQ(LearningRate(config, 9000), 1e-3);
  config.warmup_updates = 0;
  EXPECT_DOUBLE_EQ(LearningRate(config, 1), 3e-3);
  EXPECT_DOUBLE_EQ(LearningRate(config, 4), 1.5e-3);
}

TEST(ScheduleTest, CosineFallsToItsEnd) {
  ScheduleConfig config{ScheduleKind::kCosine, 2e-3};
  config.warmup_updates = 100;
  config.max_updates = 1100;
  config.end_learning_rate = 2e-4;
  EXPECT_DOUBLE_EQ(LearningRate(config, 50), 1e-3);
  EXPECT_DOUBLE_EQ(LearningRate(config, 100), 2e-3);
  EXPECT_NEAR(LearningRate(config, 350), 2e-4 + 1.8e-3 * (1 + std::sqrt(0.5)) / 2,
              1e-16);                                     // a quarter
  EXPECT_NEAR(LearningRate(config, 600), 1.1e-3, 1e-16);  // half way
  EXPECT_DOUBLE_EQ(LearningRate(config, 1100), 2e-4);
  EXPECT_DOUBLE_EQ(LearningRate(config, 5000), 2e-4);
}

TEST(ScheduleTest, ConstantStaysAfterWarmUp) {
  ScheduleConfig config{ScheduleKind::kConstant, 1e-3};
  config.warmup_updates = 10;
  EXPECT_DOUBLE_EQ(LearningRate(config, 1), 1e-4);
  EXPECT_DOUBLE_EQ(LearningRate(config, 10), 1e-3);
  EXPECT_DOUBLE_EQ(LearningRate(config, 100000), 1e-3);
  EXPECT_THROW(LearningRate(config, 0), Error);
}

}  // namespace
}  // namespace attend::nn
