#include "text/word_aligner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/random.h"

namespace attend {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// By central differences.
double DigammaByDifferences(double x) {
  return (std::lgamma(x + 1e-5) - std::lgamma(x - 1e-5)) / 2e-5;
}

// Dyer et al. 2013, section 2 and 3, over dense tables.
std::map<std::pair<int32_t, int32_t>, double> PlainAligner(const std::vector<WordPair>& pairs,
                                                           int iterations) {
  std::map<std::pair<int32_t, int32_t>, double> table;
  for (const auto& [source, target] : pairs) {
    for (const int32_t t : target) {
      table[{0, t}] = 1;
      for (const int32_t s : source) table[{s, t}] = 1;
    }
  }
  for (int i = 0; i < iterations; ++i) {
    std::map<std::pair<int32_t, int32_t>, double> counts;
    for (const auto& [source, target] : pairs) {
      const double n = static_cast<double>(source.size()), m = static_cast<double>(target.size());
      for (size_t j = 0; j < target.size(); ++j) {
        std::vector<double> p = {0.08 * table[{0, target[j]}]};
        double z = 0;
        const auto near = [&](size_t k) {
          return std::exp(-4 * std::abs((j + 1) / m - (k + 1) / n));
        };
        for (size_t k = 0; k < source.size(); ++k) z += near(k);
        for (size_t k = 0; k < source.size(); ++k)
          p.push_back(0.92 * near(k) / z * table[{source[k], target[j]}]);
        double sum = 0;
        for (const double each : p) sum += each;
        counts[{0, target[j]}] += p[0] / sum;
        for (size_t k = 0; k < source.size(); ++k) counts[{source[k], target[j]}] += p[k + 1] / sum;
      }
    }
    std::map<int32_t, double> totals;
    for (const auto& [pair, one] : table) totals[pair.first] += counts[pair] + 0.01;
    for (auto& [pair, probability] : table)
      probability = std::exp(DigammaByDifferences(counts[pair] + 0.01) -
                             DigammaByDifferences(totals[pair.first]));
  }
  return table;
}

// Each source word's translation is its id and 20, in turned order; some target words come from
// none.
std::vector<WordPair> RandomWordPairs(int64_t count) {
  Random random({3});
  std::vector<WordPair> pairs(count);
  for (auto& [source, target] : pairs) {
    for (uint64_t n = 1 + random.Below(6); n > 0; --n) {
      source.push_back(static_cast<int32_t>(1 + random.Below(9)));
      target.push_back(source.back() + 20);
      if (random.Below(4) == 0) target.push_back(40);
    }
  }
  return pairs;
}

TEST(WordAlignerTest, ProbabilitiesAreTheFormulas) {
  const std::vector<WordPair> pairs = RandomWordPairs(40);
  DirectedAligner aligner(pairs);
  aligner.Train(4);
  for (const auto& [pair, probability] : PlainAligner(pairs, 4)) {
    EXPECT_NEAR(aligner.Probability(pair.first, pair.second), probability, 1e-6 * (1 + probability))
        << pair.first << " " << pair.second;
  }
  EXPECT_EQ(aligner.Probability(1, 99), 0);
  EXPECT_EQ(aligner.Probability(99, 21), 0);
}

TEST(WordAlignerTest, FindsWhatTranslatesWhat) {
  const std::vector<WordPair> pairs = RandomWordPairs(400);
  const std::vector<WordLinks> links = LinkWords(pairs, 5);
  int64_t right = 0, all = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    for (const auto& [s, t] : links[i]) {
      ++all;
      right += pairs[i].target[t] == pairs[i].source[s] + 20;
    }
  }
  EXPECT_GT(static_cast<double>(right), 0.9 * static_cast<double>(all));
}

TEST(WordAlignerTest, JoinsDirections) {
  // Both have 0-0; 1-1 is a neighbour that one has; 3-3 stands alone, with words that have no
  // other.
  EXPECT_THAT(
      JoinDirections(std::vector<int32_t>{0, 1, -1, 3}, std::vector<int32_t>{0, -1, -1, -1}),
      ElementsAre(testing::Pair(0, 0), testing::Pair(1, 1), testing::Pair(3, 3)));
  // 0-3 is no neighbour, and its source has a link.
  EXPECT_THAT(JoinDirections(std::vector<int32_t>{0, -1, -1, 0}, std::vector<int32_t>{0}),
              ElementsAre(testing::Pair(0, 0)));
  EXPECT_THAT(JoinDirections({}, {}), IsEmpty());
}

TEST(WordAlignerTest, LongPairsHaveNoLinks) {
  WordPair longer{std::vector<int32_t>(kMostAlignedWords + 1, 1), {1}};
  EXPECT_THAT(LinkWords({longer, {{1}, {1}}, {{}, {}}}, 3),
              ElementsAre(IsEmpty(), ElementsAre(testing::Pair(0, 0)), IsEmpty()));
}

}  // namespace
}  // namespace attend
