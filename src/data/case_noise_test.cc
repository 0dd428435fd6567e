#include "data/case_noise.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace attend {
namespace {

TEST(CaseNoise, GivesItsShareOfPairsInOtherCase) {
  const CaseNoise noise(0.05, 7);
  std::map<std::vector<std::string>, int> found;
  for (int64_t line = 0; line < 20000; ++line) {
    std::vector<std::string> texts = {"ein Haus", "a house"};
    noise.Apply({line % 3, line}, 2, &texts);
    ++found[texts];
  }
  EXPECT_EQ(found.size(), 3u);  // both sides are changed alike
  EXPECT_NEAR((found[{"EIN HAUS", "A HOUSE"}]), 1000, 150);
  EXPECT_NEAR((found[{"Ein Haus", "A House"}]), 1000, 150);
}

TEST(CaseNoise, OtherTimesChangeOtherPairs) {
  const CaseNoise noise(0.3, 7);
  int other = 0;
  for (int64_t line = 0; line < 1000; ++line) {
    std::vector<std::string> first = {"a b"}, second = {"a b"};
    noise.Apply({0, line}, 0, &first);
    noise.Apply({0, line}, 1, &second);
    other += first != second;
  }
  EXPECT_GT(other, 300);
}

TEST(CaseNoise, LeavesTokensInAngleBracketsAsTheyAre) {
  const CaseNoise noise(0.5, 7);
  std::map<std::string, int> found;
  for (int64_t line = 0; line < 100; ++line) {
    std::vector<std::string> texts = {"a <term> house <is> ein haus </term>, 1 < b and c > d"};
    noise.Apply({0, line}, 0, &texts);
    ++found[texts[0]];
  }
  EXPECT_EQ(found.size(), 2u);
  EXPECT_TRUE(found.contains("A <term> HOUSE <is> EIN HAUS </term>, 1 < B AND C > D"));
  EXPECT_TRUE(found.contains("A <term> House <is> Ein Haus </term>, 1 < B And C > D"));
}

TEST(CaseNoise, NoneLeavesAllAsItIs) {
  std::vector<std::string> texts = {"ein Haus"};
  for (int64_t line = 0; line < 100; ++line) CaseNoise().Apply({0, line}, 0, &texts);
  EXPECT_EQ(texts, std::vector<std::string>{"ein Haus"});
}

}  // namespace
}  // namespace attend
