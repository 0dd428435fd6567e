#include "text/lexicon.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/random.h"

namespace attend {
namespace {

using Pair = std::pair<std::vector<int32_t>, std::vector<int32_t>>;

// Model 1 over dense tables, as the formulas have it.
std::map<std::pair<int32_t, int32_t>, double> Plain(const std::vector<Pair>& pairs,
                                                    int iterations) {
  std::map<std::pair<int32_t, int32_t>, double> table;
  std::map<int32_t, std::map<int32_t, int>> beside;
  for (const auto& [source, target] : pairs) {
    for (const int32_t s : source) {
      for (const int32_t t : target) beside[s][t] = 1;
    }
  }
  for (const auto& [s, targets] : beside) {
    for (const auto& [t, one] : targets) table[{s, t}] = 1.0 / targets.size();
  }
  for (int i = 0; i < iterations; ++i) {
    std::map<std::pair<int32_t, int32_t>, double> counts;
    std::map<int32_t, double> totals;
    for (const auto& [source, target] : pairs) {
      for (const int32_t t : target) {
        double sum = 0;
        for (const int32_t s : source) sum += table[{s, t}];
        for (const int32_t s : source) {
          counts[{s, t}] += table[{s, t}] / sum;
          totals[s] += table[{s, t}] / sum;
        }
      }
    }
    for (auto& [pair, probability] : table) probability = counts[pair] / totals[pair.first];
  }
  return table;
}

std::vector<Pair> RandomPairs(int64_t count) {
  Random random({3});
  std::vector<Pair> pairs(count);
  for (auto& [source, target] : pairs) {
    for (uint64_t n = 1 + random.Below(6); n > 0; --n) {
      source.push_back(static_cast<int32_t>(random.Below(9)));
      target.push_back(source.back() + 20);
      if (random.Below(3) == 0) target.push_back(static_cast<int32_t>(20 + random.Below(9)));
    }
  }
  return pairs;
}

TEST(LexiconTest, ProbabilitiesAreModelOnes) {
  const std::vector<Pair> pairs = RandomPairs(60);
  LexiconTrainer trainer(9, 200);
  for (const auto& [source, target] : pairs) trainer.Add(source, target);
  const auto table = trainer.Train(4);
  const auto want = Plain(pairs, 4);
  size_t entries = 0;
  for (size_t s = 0; s < table.size(); ++s) {
    for (const LexicalEntry& entry : table[s]) {
      EXPECT_NEAR(entry.probability, want.at({static_cast<int32_t>(s), entry.target}), 1e-9);
      ++entries;
    }
  }
  EXPECT_EQ(entries, want.size());
}

TEST(LexiconTest, EachPieceFindsItsTranslationFirst) {
  LexiconTrainer trainer(9, 4);
  for (const auto& [source, target] : RandomPairs(500)) trainer.Add(source, target);
  const auto table = trainer.Train();
  for (int32_t s = 0; s < 9; ++s) {
    ASSERT_LE(table[s].size(), 4u);
    EXPECT_EQ(table[s][0].target, s + 20);
    for (size_t i = 1; i < table[s].size(); ++i) {
      EXPECT_LE(table[s][i].probability, table[s][i - 1].probability);
    }
  }
}

TEST(LexiconTest, FrequentTargetsComeByCountThenId) {
  LexiconTrainer trainer(2, 200);
  trainer.Add(std::vector<int32_t>{0}, std::vector<int32_t>{7, 5, 5, 9});
  trainer.Add(std::vector<int32_t>{1}, std::vector<int32_t>{9, 3});
  EXPECT_EQ(trainer.MostFrequentTargets(), (std::vector<int32_t>{5, 9, 3, 7}));
}

TEST(LexiconTest, AsManyCandidatesAsAskedForAreLearned) {
  for (const int64_t candidates : {1, 250, 400}) {
    LexiconTrainer trainer(1, candidates);
    for (int32_t t = 0; t < 300; ++t) {
      trainer.Add(std::vector<int32_t>{0}, std::vector<int32_t>{t});
    }
    EXPECT_EQ(std::ssize(trainer.Train()[0]), std::min<int64_t>(candidates, 300));
  }
}

TEST(LexiconTest, APairWithAVeryLongSideIsLeftOut) {
  constexpr int64_t kMost = LexiconTrainer::kMostPieces;
  LexiconTrainer trainer(2, 10);
  trainer.Add(std::vector<int32_t>(kMost, 0), std::vector<int32_t>(kMost, 7));
  EXPECT_EQ(trainer.left_out(), 0);
  trainer.Add(std::vector<int32_t>(kMost + 1, 1), std::vector<int32_t>{8});
  trainer.Add(std::vector<int32_t>{1}, std::vector<int32_t>(1'000'000, 8));
  trainer.Add(std::vector<int32_t>(100'000, 1), std::vector<int32_t>(100'000, 8));
  EXPECT_EQ(trainer.left_out(), 3);
  EXPECT_EQ(trainer.MostFrequentTargets(), (std::vector<int32_t>{7}));
  const auto table = trainer.Train();
  EXPECT_EQ(table[0].size(), 1u);
  EXPECT_TRUE(table[1].empty());
}

}  // namespace
}  // namespace attend
