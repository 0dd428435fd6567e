#include "memory/word_distance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace attend {
namespace {

using Words = std::vector<uint32_t>;

// The table of Wagner and Fischer.
int64_t PlainDistance(const Words& a, const Words& b) {
  std::vector<int64_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int64_t>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int64_t diagonal = row[0];
    row[0] = static_cast<int64_t>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int64_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

TEST(WordDistanceTest, EqualsThePlainTable) {
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    const auto draw = [&](uint32_t kinds) {
      // Around the 64 words of a block, too.
      Words words(i % 3 == 0 ? random() % 8 : i % 3 == 1 ? 60 + random() % 10 : random() % 200);
      for (uint32_t& word : words) word = random() % kinds;
      return words;
    };
    const uint32_t kinds = 1 + random() % 12;
    const Words a = draw(kinds);
    WordDistance distance(a);
    for (int j = 0; j < 2; ++j) {  // the memory is used again
      const Words b = draw(kinds);
      ASSERT_EQ(distance.To(b), PlainDistance(a, b)) << a.size() << " and " << b.size() << " words";
    }
  }
}

TEST(WordDistanceTest, EmptySequencesAreAsFarAsTheOtherIsLong) {
  EXPECT_EQ(WordDistance(Words{}).To(Words{1, 2}), 2);
  EXPECT_EQ(WordDistance(Words{1, 2, 3}).To(Words{}), 3);
  EXPECT_EQ(WordDistance(Words{}).To(Words{}), 0);
}

}  // namespace
}  // namespace attend
