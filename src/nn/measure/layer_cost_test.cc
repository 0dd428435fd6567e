// The columns of Table 1 as they are measured, against the paper's formulas.
#include "nn/measure/layer_cost.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attend::nn {
namespace {

constexpr LayerKind kParallel[] = {LayerKind::kAttention, LayerKind::kWindowedAttention,
                                   LayerKind::kMultiHeadAttention, LayerKind::kConvolution,
                                   LayerKind::kSeparableConvolution};

LayerShape Shape(LayerKind kind, int64_t window = 16, int64_t kernel_width = 3) {
  return {kind, /*width=*/8, /*head_width=*/4, window, kernel_width};
}

// All positions at once, or one after the other.
TEST(SequentialOperationsTest, AreConstantButForTheLstm) {
  for (const LayerKind kind : kParallel) {
    const int64_t few = SequentialOperations(Shape(kind), 8);
    EXPECT_GT(few, 1);
    EXPECT_EQ(few, SequentialOperations(Shape(kind), 300));
  }
  const LayerShape lstm = Shape(LayerKind::kLstm);
  const int64_t at_8 = SequentialOperations(lstm, 8), at_16 = SequentialOperations(lstm, 16);
  EXPECT_GE(at_16 - at_8, 8);  // an operation a step at least
  EXPECT_EQ(SequentialOperations(lstm, 32) - at_16, 2 * (at_16 - at_8));
}

TEST(PathLengthTest, IsThePapers) {
  const auto up = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  for (const int64_t n : {2, 3, 9, 17, 40, 63}) {
    EXPECT_EQ(PathLength(Shape(LayerKind::kAttention), n), 1) << n;
    EXPECT_EQ(PathLength(Shape(LayerKind::kMultiHeadAttention), n), 1) << n;
    EXPECT_EQ(PathLength(Shape(LayerKind::kLstm), n), n) << n;
    for (const int64_t window : {1, 4, 16}) {
      EXPECT_EQ(PathLength(Shape(LayerKind::kWindowedAttention, window), n), up(n - 1, window))
          << n << " " << window;
    }
    for (const int64_t k : {3, 5}) {
      // Half of a kernel reaches to each side.
      const int64_t contiguous = up(n - 1, k / 2);
      EXPECT_EQ(PathLength(Shape(LayerKind::kConvolution, 0, k), n), contiguous) << n << " " << k;
      EXPECT_EQ(PathLength(Shape(LayerKind::kSeparableConvolution, 0, k), n), contiguous);
      const auto dilated =
          static_cast<int64_t>(std::ceil(std::log(static_cast<double>(n)) / std::log(k) - 1e-9));
      EXPECT_EQ(PathLength(Shape(LayerKind::kDilatedConvolution, 0, k), n), dilated)
          << n << " " << k;
    }
  }
}

// As the processor's clock does where the time of a program is limited.
TEST(MeasureLayerTest, AClockOfLongStepsIsEnough) {
  int64_t reads = 0;
  const auto now = [&] { return 37 * std::floor(static_cast<double>(++reads) / 37); };
  const LayerCost found = MeasureLayer(Shape(LayerKind::kConvolution), 8, 4000, now);
  EXPECT_NEAR(found.forward_s, 1, 0.05);
  EXPECT_NEAR(found.backward_s, 1, 0.05);
}

// A clock that goes on by a second each time that it is read.
TEST(MeasureLayerTest, CountsTensorsAndRuns) {
  double seconds = 0;
  const auto cost = [&](LayerKind kind, int64_t length) {
    return MeasureLayer(Shape(kind, 4), length, 1, [&] { return seconds += 1; });
  };
  for (const LayerKind kind : kParallel) {
    const LayerCost found = cost(kind, 64);
    EXPECT_EQ(found.runs, 2);
    EXPECT_EQ(found.forward_s, 1);
    EXPECT_EQ(found.backward_s, 1);
    EXPECT_GE(found.kept_bytes, 64 * 8 * 4);  // the output alone
    EXPECT_GT(found.peak_bytes, found.kept_bytes);
  }
  // Weights of all pairs of positions, and of those within a window.
  const auto kept = [&](LayerKind kind, int64_t n) { return cost(kind, n).kept_bytes; };
  EXPECT_GE(kept(LayerKind::kAttention, 512), 2 * 512 * 512 * 4);
  const double grows = static_cast<double>(kept(LayerKind::kWindowedAttention, 1024)) /
                       static_cast<double>(kept(LayerKind::kWindowedAttention, 512));
  EXPECT_NEAR(grows, 2, 0.1);
}

}  // namespace
}  // namespace attend::nn
