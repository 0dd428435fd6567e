// Figures are those that jiwer 4.0.0 gives; tests/metrics/error_rate_test.py compares many more.
#include "metrics/error_rate.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

struct Case {
  std::string hypothesis, reference;
  MetricStatistics words, characters;
};

TEST(ErrorRateTest, CountsWhatMustBeChanged) {
  for (const Case& each :
       std::vector<Case>{{"one two three", "one two three", {0, 3}, {0, 13}},
                         {"one three", "one two three", {1, 3}, {4, 13}},
                         {"won two  three four", " one two three", {2, 3}, {8, 13}},
                         {"", "one two", {2, 2}, {7, 7}},
                         {"one two", "", {2, 0}, {7, 0}},
                         {"", "", {0, 0}, {0, 0}},
                         {"z\u00fcrich", "zu\u0308rich", {1, 1}, {2, 7}},
                         {"a\u00a0b c", "a b c", {2, 3}, {1, 5}}}) {
    const std::vector<std::string_view> references = {each.reference};
    EXPECT_EQ(ErrorRate(ErrorUnit::kWords).Statistics(each.hypothesis, references), each.words)
        << each.hypothesis;
    EXPECT_EQ(ErrorRate(ErrorUnit::kCharacters).Statistics(each.hypothesis, references),
              each.characters)
        << each.hypothesis;
  }
}

TEST(ErrorRateTest, TakesTheNearestReferenceAndTheCorpusAsAWhole) {
  const ErrorRate words(ErrorUnit::kWords);
  EXPECT_EQ(words.Statistics("a b", {"x y", "a b c", "a"}), (MetricStatistics{1, 3}));
  EXPECT_DOUBLE_EQ(CorpusScore(words, {"a b", "c"}, {{"a b", "d e f"}}), 100 * 3.0 / 5);
  EXPECT_DOUBLE_EQ(words.Score({2, 0}), 200);
  EXPECT_DOUBLE_EQ(ErrorRate(ErrorUnit::kWords, /*lowercase=*/true)
                       .Score(ErrorRate(ErrorUnit::kWords, true).Statistics("One", {"oNE"})),
                   0);
  EXPECT_EQ(words.Details({2, 5}), "(2 errors, 5 words)");
}

}  // namespace
}  // namespace attend
