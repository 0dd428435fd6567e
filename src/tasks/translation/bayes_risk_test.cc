#include "tasks/translation/bayes_risk.h"

#include <gtest/gtest.h>

#include <string>

namespace attend {
namespace {

std::vector<Hypothesis> Drawn(const std::vector<std::string>& texts) {
  std::vector<Hypothesis> drawn;
  for (const std::string& text : texts) {
    drawn.push_back({.text = text});
    drawn.back().log_probability = -static_cast<double>(drawn.size());
  }
  return drawn;
}

TEST(BayesRiskTest, TheOutputMostLikeTheOthersLeads) {
  std::vector<Hypothesis> drawn =
      Drawn({"no trains run", "a dog runs in the park", "a dog ran in the park",
             "dogs run in the park", "the stock market fell"});
  ChooseByUtility(MbrUtility::kChrf, 2, &drawn);
  ASSERT_EQ(drawn.size(), 2u);
  EXPECT_EQ(drawn[0].text, "a dog runs in the park");
  EXPECT_EQ(drawn[0].log_probability, -2);
  EXPECT_GT(drawn[0].score, drawn[1].score);
}

// Two equal ones count twice; by hand, utilities are 100 with itself and 0 without a common n-gram.
TEST(BayesRiskTest, EqualTextsCountAsOftenAsTheyWereDrawn) {
  for (const MbrUtility utility : {MbrUtility::kChrf, MbrUtility::kBleu}) {
    std::vector<Hypothesis> drawn = Drawn({"a b c d", "e f g h", "i j k l", "e f g h"});
    ChooseByUtility(utility, 4, &drawn);
    ASSERT_EQ(drawn.size(), 3u);
    EXPECT_EQ(drawn[0].text, "e f g h");
    EXPECT_NEAR(drawn[0].score, 50, 1e-9);
    EXPECT_EQ(drawn[0].log_probability, -2);  // the first of both
    EXPECT_EQ(drawn[1].text, "a b c d");      // equal utilities: as drawn
    EXPECT_NEAR(drawn[1].score, 25, 1e-9);
  }
}

}  // namespace
}  // namespace attend
