#include "memory/translation_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "memory/memory_words.h"

namespace attend {
namespace {

using testing::ElementsAre;

TEST(MemoryWordsTest, PunctuationAndLettersOfScriptsWithoutSpacesAreWords) {
  EXPECT_THAT(MemoryWords("A dog, isn't it?\u00a0Öl 1.5\n"),
              ElementsAre("A", "dog", ",", "isn", "'", "t", "it", "?", "Öl", "1", ".", "5"));
  EXPECT_THAT(MemoryWords("日本語 ok"), ElementsAre("日", "本", "語", "ok"));
  EXPECT_THAT(MemoryWords(" \t"), ElementsAre());
}

std::vector<std::string> SourcesOf(const std::vector<MemoryMatch>& matches) {
  std::vector<std::string> sources;
  for (const MemoryMatch& match : matches) sources.push_back(match.source);
  return sources;
}

TEST(TranslationMemoryTest, ScoresAreSharesOfWords) {
  const TranslationMemory memory({{"A small house .", "Ein kleines Haus ."},
                                  {"A small red house.", "Ein kleines rotes Haus."},
                                  {"Nothing like it", "Nichts"}});
  const std::vector<MemoryMatch> matches = memory.Find("A small house.", {.threshold = 50});
  ASSERT_THAT(SourcesOf(matches), ElementsAre("A small house .", "A small red house."));
  EXPECT_EQ(matches[0].score, 100);  // white space may differ
  EXPECT_EQ(matches[0].target, "Ein kleines Haus .");
  EXPECT_EQ(matches[1].score, 80);  // one of five words
  EXPECT_THAT(SourcesOf(memory.Find("a small house.", {.threshold = 100})), ElementsAre());
  EXPECT_THAT(SourcesOf(memory.Find("A small house.", {.threshold = 50, .exact = false})),
              ElementsAre("A small red house."));
  EXPECT_THAT(memory.Find("", {}), ElementsAre());
}

TEST(TranslationMemoryTest, OfEqualScoresTheLastGivenComesFirstAndOfEqualUnitsOneStays) {
  const TranslationMemory memory(
      {{"a b", "1"}, {"a b", "2"}, {"a b", "1"}, {"", "3"}, {"a b", " "}});
  EXPECT_EQ(memory.size(), 2);
  const std::vector<MemoryMatch> matches = memory.Find("a b", {});
  ASSERT_EQ(matches.size(), 2);
  EXPECT_EQ(matches[0].target, "1");
  EXPECT_EQ(matches[1].target, "2");
  EXPECT_EQ(memory.Find("a b", {.most = 1}).size(), 1);
}

TEST(TranslationMemoryTest, TextsOfVeryManyWordsAreSearchedAtLittleCost) {
  const TranslationMemory memory({{"A dog !", "Ein Hund !"}, {"! ! !", "!"}});
  EXPECT_THAT(memory.Find(std::string(9000, '!'), {.threshold = 1}), ElementsAre());
  EXPECT_THAT(memory.Find(std::string(1000000, '!'), {.threshold = 1}), ElementsAre());
  EXPECT_THAT(SourcesOf(memory.Find("! ! ! !", {})), ElementsAre("! ! !"));
}

TEST(TranslationMemoryTest, WorkHasABound) {
  const TranslationMemory memory({{"a b c", "1"}, {"a b d", "2"}, {"a b e", "3"}});
  EXPECT_EQ(memory.Find("a b f", {.threshold = 50}).size(), 3);
  EXPECT_EQ(memory.Find("a b f", {.threshold = 50, .most_work = 18}).size(), 2);  // 9 pairs each
}

// Levenshtein's distance by its definition's table.
int64_t DistanceOf(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  std::vector<std::vector<int64_t>> table(a.size() + 1, std::vector<int64_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      int64_t& cell = table[i][j];
      cell = static_cast<int64_t>(std::max(i, j));
      if (i == 0 || j == 0) continue;
      cell = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1,
                       table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
    }
  }
  return table.back().back();
}

TEST(TranslationMemoryTest, TheIndexFindsWhatAComparisonWithEveryUnitFinds) {
  std::mt19937 random(2);
  const auto draw = [&] {
    std::string text;
    const size_t words = 1 + random() % (random() % 10 == 0 ? 90 : 12);
    for (size_t i = 0; i < words; ++i)  // rare and frequent words
      text += "w" + std::to_string(std::min(random() % 40, random() % 40)) + " ";
    return text;
  };
  std::vector<MemoryUnit> units;
  for (int i = 0; i < 1500; ++i) units.push_back({draw(), "target " + std::to_string(i)});
  const TranslationMemory memory(units);
  size_t all = 0;
  for (const double threshold : {1.0, 30.0, 50.0, 200.0 / 3, 70.0, 75.0, 90.0, 100.0}) {
    for (int i = 0; i < 25; ++i) {
      const std::string text =
          i % 2 == 0 ? draw() : units[random() % units.size()].source + (i % 4 == 1 ? "new" : "");
      std::vector<std::tuple<double, int>> expected;
      const auto words = MemoryWords(text);
      for (int unit = 0; unit < std::ssize(units); ++unit) {
        const auto other = MemoryWords(units[unit].source);
        const auto longer = static_cast<double>(std::max(words.size(), other.size()));
        const double score =
            100 * (longer - static_cast<double>(DistanceOf(words, other))) / longer;
        if (score >= threshold) expected.emplace_back(score, unit);
      }
      std::ranges::sort(expected, std::ranges::greater());
      const auto found = memory.Find(text, {.threshold = threshold, .most = 2000});
      ASSERT_EQ(found.size(), expected.size()) << text << threshold;
      for (size_t j = 0; j < found.size(); ++j) {
        EXPECT_EQ(found[j].score, std::get<0>(expected[j]));
        EXPECT_EQ(found[j].target, "target " + std::to_string(std::get<1>(expected[j])));
      }
      all += found.size();
    }
  }
  EXPECT_GT(all, 1000);
}

}  // namespace
}  // namespace attend
