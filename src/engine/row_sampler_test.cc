// Frequencies of draws against the distribution they are drawn from.
#include "engine/row_sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "kernels/inference/dispatch.h"

namespace attend {
namespace {

constexpr int64_t kBlock = 512, kTokens = 1100, kDraws = 100000;

class RowSamplerTest : public testing::TestWithParam<std::string> {};

std::vector<float> Logits() {
  Random random({9});
  std::vector<float> logits(kTokens);
  for (float& logit : logits) logit = static_cast<float>(1.5 * random.Normal());
  return logits;
}

// Section 4.1 of Keskar et al., then one rule after another, over the whole distribution.
std::vector<double> Distribution(std::vector<float> logits, const SamplingOptions& options,
                                 const std::vector<int32_t>& seen,
                                 const std::vector<int32_t>& forbidden) {
  for (const int32_t id : seen) {
    logits[id] *= static_cast<float>(logits[id] > 0 ? 1 / options.repetition_penalty
                                                    : options.repetition_penalty);
  }
  std::vector<double> p;
  for (const float logit : logits) p.push_back(std::exp(logit / options.temperature));
  for (const int32_t id : forbidden) {
    if (id >= 0) p[id] = 0;
  }
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return p[a] > p[b]; });
  const auto keep = [&](size_t count) {
    for (size_t i = count; i < order.size(); ++i) p[order[i]] = 0;
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& each : p) each /= sum;
  };
  keep(options.top_k > 0 ? options.top_k : p.size());
  size_t count = 0;
  for (double sum = 0; count < p.size() && sum < options.top_p; ++count) sum += p[order[count]];
  keep(count);
  keep(std::ranges::count_if(p, [&](double x) { return x >= options.min_p * p[order[0]]; }));
  return p;
}

std::vector<Candidate> Drawn(const KernelTable& kernels, const SamplingOptions& options,
                             const std::vector<int32_t>& seen,
                             const std::vector<int32_t>& forbidden, double log_sum) {
  const std::vector<float> logits = Logits();
  std::vector<Draw> draws(kDraws);
  for (int64_t d = 0; d < kDraws; ++d) draws[d] = {7, d, 3};
  RowSampler sampler;
  sampler.Start(kernels, {&options, draws, seen});
  for (int64_t first = 0; first < kTokens; first += kBlock) {
    const int64_t count = std::min(kBlock, kTokens - first);
    sampler.Take(std::span(logits).subspan(first, count), first, forbidden);
  }
  std::vector<Candidate> drawn(kDraws);
  sampler.Finish(log_sum, drawn.data());
  return drawn;
}

// Pearson's statistic stays near its degrees of freedom; rare tokens are counted together.
void ExpectFrequencies(const std::vector<Candidate>& drawn, const std::vector<double>& p) {
  std::vector<double> counts(p.size());
  for (const Candidate& candidate : drawn) ++counts.at(candidate.id);
  double statistic = 0, cells = 0, rare = 0, rare_count = 0;
  for (size_t id = 0; id < p.size(); ++id) {
    const double expected = p[id] * static_cast<double>(drawn.size());
    if (p[id] == 0) {
      EXPECT_EQ(counts[id], 0) << id;
    } else if (expected < 10) {
      rare += expected;
      rare_count += counts[id];
    } else {
      statistic += (counts[id] - expected) * (counts[id] - expected) / expected;
      ++cells;
    }
  }
  if (rare > 10) {
    statistic += (rare_count - rare) * (rare_count - rare) / rare;
    ++cells;
  }
  EXPECT_LT(statistic, cells - 1 + 4 * std::sqrt(2 * cells));
  EXPECT_GT(statistic, cells - 1 - 4 * std::sqrt(2 * cells));
}

TEST_P(RowSamplerTest, FrequenciesAreThoseOfTheDistribution) {
  const KernelTable& kernels = SelectKernels(GetParam());
  const std::vector<int32_t> seen = {3, 4, 511, 512, 1099}, forbidden = {-1, 0, 600};
  for (const SamplingOptions& options :
       {SamplingOptions{}, SamplingOptions{.temperature = 0.7},
        SamplingOptions{.repetition_penalty = 1.8, .temperature = 1.3},
        SamplingOptions{.top_k = 40}, SamplingOptions{.repetition_penalty = 1.8, .top_k = 300},
        SamplingOptions{.temperature = 0.9, .top_k = 50, .top_p = 0.8, .min_p = 0.2},
        SamplingOptions{.top_p = 0.7}, SamplingOptions{.repetition_penalty = 3, .min_p = 0.05},
        SamplingOptions{.temperature = 1.4, .top_p = 0.9, .min_p = 0.1}}) {
    const auto drawn = Drawn(kernels, options, seen, forbidden, 0);
    ExpectFrequencies(drawn, Distribution(Logits(), options, seen, forbidden));
    const auto reference = Drawn(*ReferenceKernels(), options, seen, forbidden, 0);
    EXPECT_TRUE(std::ranges::equal(drawn, reference, {}, &Candidate::id, &Candidate::id));
  }
}

TEST_P(RowSamplerTest, LogProbabilitiesAreTheModelsOwn) {
  const KernelTable& kernels = SelectKernels(GetParam());
  const std::vector<float> logits = Logits();
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
  std::vector<int32_t> seen(kTokens);
  std::iota(seen.begin(), seen.end(), 0);
  for (const SamplingOptions& options :
       {SamplingOptions{.repetition_penalty = 2, .temperature = 0.5},
        SamplingOptions{.repetition_penalty = 2, .temperature = 2, .top_k = 9},
        SamplingOptions{.repetition_penalty = 2, .top_p = 0.9}}) {
    for (const Candidate& drawn : Drawn(kernels, options, seen, {}, std::log(sum))) {
      EXPECT_EQ(drawn.log_probability, static_cast<double>(logits[drawn.id]) - std::log(sum));
    }
  }
}

TEST_P(RowSamplerTest, TemperatureZeroTakesTheLikeliestPenalised) {
  const KernelTable& kernels = SelectKernels(GetParam());
  const std::vector<float> logits = Logits();
  const auto best = static_cast<int32_t>(std::ranges::max_element(logits) - logits.begin());
  EXPECT_EQ(Drawn(kernels, {.temperature = 0}, {}, {}, 0)[0].id, best);
  EXPECT_NE(Drawn(kernels, {.repetition_penalty = 9, .temperature = 0}, {best}, {}, 0)[0].id, best);
  EXPECT_NE(Drawn(kernels, {.temperature = 0}, {}, {best}, 0)[0].id, best);
}

INSTANTIATE_TEST_SUITE_P(All, RowSamplerTest, testing::ValuesIn(AvailableInstructionSets()),
                         [](const auto& info) { return info.param; });

TEST(RowSamplerTest, NothingIsDrawnWhereAllIsForbidden) {
  const SamplingOptions options;
  const std::vector<Draw> draws(1);
  for (const SamplingOptions& each :
       {options, SamplingOptions{.top_k = 2}, SamplingOptions{.top_p = 0.5}}) {
    RowSampler sampler;
    sampler.Start(*ReferenceKernels(), {&each, draws, {}});
    const std::vector<float> logits = {1, 2};
    const std::vector<int32_t> forbidden = {0, 1};
    sampler.Take(logits, 0, forbidden);
    Candidate drawn;
    sampler.Finish(0, &drawn);
    EXPECT_EQ(drawn.id, -1);
  }
}

}  // namespace
}  // namespace attend
