#include "kernels/peaks/peaks.h"

#include <gtest/gtest.h>

#include <bit>
#include <numeric>
#include <vector>

#include "kernels/inference/dispatch.h"

namespace attend {
namespace {

constexpr int64_t kRounds = 1000;

class PeaksTest : public testing::TestWithParam<std::string> {};

// Over ones, each multiply-add adds 1 to the sum of what the loop leaves.
TEST_P(PeaksTest, TheInt8LoopDoesWhatItCounts) {
  const PeakLoops loops = PeaksOf(SelectKernels(GetParam()).name);
  std::vector<int32_t> before(64, 0x01010101), after = before;
  EXPECT_EQ(loops.int8(0, before.data()), 0);
  const int64_t operations = loops.int8(kRounds, after.data());
  const int64_t sum = std::accumulate(after.begin(), after.end(), int64_t{0}) -
                      std::accumulate(before.begin(), before.end(), int64_t{0});
  EXPECT_GT(operations, 0);
  EXPECT_EQ(2 * sum, operations);
}

TEST_P(PeaksTest, TheF32LoopDoesWhatItCounts) {
  const PeakLoops loops = PeaksOf(SelectKernels(GetParam()).name);
  const bool whole = GetParam() == "reference";  // which takes its numbers for integers
  std::vector<int32_t> before(64, whole ? 1 : std::bit_cast<int32_t>(1.0f)), after = before;
  EXPECT_EQ(loops.f32(0, before.data()), 0);
  const int64_t operations = loops.f32(kRounds, after.data());
  double sum = 0;
  for (size_t i = 0; i < after.size(); ++i) {
    sum += whole ? after[i] - before[i]
                 : std::bit_cast<float>(after[i]) - std::bit_cast<float>(before[i]);
  }
  EXPECT_GT(operations, 0);
  EXPECT_EQ(2 * sum, static_cast<double>(operations));
}

INSTANTIATE_TEST_SUITE_P(All, PeaksTest, testing::ValuesIn(AvailableInstructionSets()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace attend
