#include "train/tasks/translation/text_mixture.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

namespace attend {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

// The share of an epoch that each file has.
std::vector<double> Shares(const std::vector<int64_t>& examples, double temperature, double limit) {
  const std::vector<double> weights = MixingWeights(examples, temperature, limit);
  std::vector<double> used;
  for (size_t i = 0; i < examples.size(); ++i)
    used.push_back(weights[i] * static_cast<double>(examples[i]));
  const double all = std::accumulate(used.begin(), used.end(), 0.0);
  EXPECT_NEAR(
      all, static_cast<double>(std::accumulate(examples.begin(), examples.end(), int64_t{0})), 1e-6)
      << "an epoch is as long as without weights";
  for (double& share : used) share /= all;
  return used;
}

TEST(MixingWeightsTest, ATemperatureOfOneIsInProportion) {
  EXPECT_THAT(MixingWeights({1000, 10, 1}, 1, 0),
              ElementsAre(DoubleNear(1, 1e-12), DoubleNear(1, 1e-12), DoubleNear(1, 1e-12)));
}

// Section 3.5.2 of Raffel et al.
TEST(MixingWeightsTest, SharesAreThoseOfTheFormula) {
  const double root = std::sqrt(10000.0) + std::sqrt(400.0) + std::sqrt(1.0);
  EXPECT_THAT(Shares({10000, 400, 1}, 2, 0),
              ElementsAre(DoubleNear(100 / root, 1e-12), DoubleNear(20 / root, 1e-12),
                          DoubleNear(1 / root, 1e-12)));
  EXPECT_THAT(Shares({10000, 400, 100}, 1, 500),
              ElementsAre(DoubleNear(0.5, 1e-12), DoubleNear(0.4, 1e-12), DoubleNear(0.1, 1e-12)));
  const double both = std::pow(500, 0.25) + std::pow(400, 0.25);
  EXPECT_THAT(Shares({10000, 400}, 4, 500),
              ElementsAre(DoubleNear(std::pow(500, 0.25) / both, 1e-12),
                          DoubleNear(std::pow(400, 0.25) / both, 1e-12)));
}

TEST(MixingWeightsTest, AnEmptyFileHasNoShare) {
  EXPECT_THAT(Shares({100, 0, 100}, 2, 0),
              ElementsAre(DoubleNear(0.5, 1e-12), 0, DoubleNear(0.5, 1e-12)));
}

}  // namespace
}  // namespace attend
