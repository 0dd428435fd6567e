// What top_p and min_p leave, against a plain version, and the numbers that draws are made of.
#include "search/sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "base/random.h"

namespace attend {
namespace {

std::vector<float> SomeLogits(size_t count, uint64_t seed) {
  Random random({seed});
  std::vector<float> logits(count);
  for (float& logit : logits) logit = static_cast<float>(3 * random.Normal());
  return logits;
}

// Ids that the rules leave, one rule after another over whole distributions.
std::set<int32_t> PlainlyKept(const std::vector<float>& logits, const SamplingOptions& options) {
  std::vector<double> p;
  for (const float logit : logits) p.push_back(std::exp(logit / options.temperature));
  const auto normalise = [&] {
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& each : p) each /= sum;
  };
  normalise();
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return p[a] > p[b]; });
  double sum = 0;
  for (const size_t id : order) {
    const bool kept = sum < options.top_p;
    sum += p[id];
    if (!kept) p[id] = 0;
  }
  normalise();
  const double most = *std::ranges::max_element(p);
  std::set<int32_t> left;
  for (size_t id = 0; id < p.size(); ++id) {
    if (p[id] > 0 && p[id] >= options.min_p * most) left.insert(static_cast<int32_t>(id));
  }
  return left;
}

TEST(SamplingTest, TopPAndMinPLeaveWhatThePlainRulesLeave) {
  for (const double top_p : {1e-9, 0.1, 0.5, 0.9, 0.999, 1.0}) {
    for (const double min_p : {0.0, 0.01, 0.3, 1.0}) {
      for (uint64_t seed = 0; seed < 20; ++seed) {
        const std::vector<float> logits = SomeLogits(700, seed);
        const SamplingOptions options{.temperature = 0.8, .top_p = top_p, .min_p = min_p};
        const std::set<int32_t> want = PlainlyKept(logits, options);
        Likeliest likeliest;
        likeliest.Take(logits, options);
        EXPECT_EQ(std::set<int32_t>(likeliest.ids.begin(), likeliest.ids.end()), want)
            << top_p << " " << min_p;
        EXPECT_TRUE(std::ranges::is_sorted(likeliest.logits, std::greater<>()));
        std::vector<float> falling = logits;
        std::ranges::sort(falling, std::greater<>());
        EXPECT_EQ(CountKept(falling, options), want.size()) << top_p << " " << min_p;
      }
    }
  }
}

TEST(SamplingTest, TopPCountsWithinWhatTopKLeft) {
  const std::vector<float> falling = {std::log(4.0f), std::log(2.0f), std::log(2.0f)};
  EXPECT_EQ(CountKept(falling, {.top_p = 0.49}), 1u);
  EXPECT_EQ(CountKept(falling, {.top_p = 0.51}), 2u);
  EXPECT_EQ(CountKept(falling, {.top_p = 0.76}), 3u);
  EXPECT_EQ(CountKept(falling, {.min_p = 0.51}), 1u);
  EXPECT_EQ(CountKept(falling, {.min_p = 0.49}), 3u);
  EXPECT_EQ(CountKept(falling, {.temperature = 0.5, .min_p = 0.3}), 1u);  // 16 to 4
}

TEST(SamplingTest, AUniformNumberChoosesByProbability) {
  const std::vector<float> kept = {std::log(4.0f), std::log(2.0f), std::log(2.0f)};
  EXPECT_EQ(Choose(kept, 1, 0), 0u);
  EXPECT_EQ(Choose(kept, 1, 0.49), 0u);
  EXPECT_EQ(Choose(kept, 1, 0.51), 1u);
  EXPECT_EQ(Choose(kept, 1, 0.76), 2u);
  EXPECT_EQ(Choose(kept, 1, 0.9999), 2u);
  EXPECT_EQ(Choose(kept, 0.5, 0.66), 0u);  // 16 of 24
  EXPECT_EQ(Choose(kept, 0.5, 0.67), 1u);
}

TEST(SamplingTest, AMinusInfinityIsNeverLeft) {
  std::vector<float> logits(5, -std::numeric_limits<float>::infinity());
  logits[3] = -2;
  Likeliest likeliest;
  likeliest.Take(logits, {.top_p = 0.999999});
  EXPECT_EQ(likeliest.ids, std::vector<int32_t>{3});
}

TEST(SamplingTest, DrawsFollowFromSeedPromptSampleStepAndNumber) {
  const std::vector<int32_t> prompt = {2, 7, 9}, other = {2, 9, 7};
  const uint64_t key = DrawKey(1, prompt);
  EXPECT_EQ(key, DrawKey(1, prompt));
  const Draw draw{key, 3, 4};
  EXPECT_EQ(UniformOf(draw, 5), UniformOf({key, 3, 4}, 5));
  const std::set<double> different = {UniformOf(draw, 5),
                                      UniformOf(draw, 6),
                                      UniformOf({key, 4, 4}, 5),
                                      UniformOf({key, 3, 5}, 5),
                                      UniformOf({DrawKey(2, prompt), 3, 4}, 5),
                                      UniformOf({DrawKey(1, other), 3, 4}, 5)};
  EXPECT_EQ(different.size(), 6u);
}

TEST(SamplingTest, GumbelNumbersHaveTheirMean) {
  double sum = 0;
  constexpr int64_t kCount = 100000;
  for (int64_t i = 0; i < kCount; ++i) sum += GumbelOf({1, 2, 3}, i);
  EXPECT_NEAR(sum / kCount, 0.5772, 4 * 1.2825 / std::sqrt(kCount));
}

TEST(SamplingTest, APenaltyMakesLogitsSmaller) {
  EXPECT_EQ(Penalised(3, 1.5), 2);
  EXPECT_EQ(Penalised(-2, 1.5), -3);
}

}  // namespace
}  // namespace attend
