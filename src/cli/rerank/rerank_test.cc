// Reading n-best lists, and the search for weights against all weights of a grid.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "attend/error.h"
#include "base/random.h"
#include "cli/rerank/n_best_list.h"
#include "cli/rerank/weight_search.h"

namespace attend {
namespace {

TEST(NBestListTest, ReadsWhatTranslateWrites) {
  const auto read = [](std::string_view line) { return ParseNBestLine(line, "x:1"); };
  EXPECT_EQ(read("7 ||| ein Haus ||| -1.250000").number, 7);
  EXPECT_EQ(read("7 ||| ein Haus ||| -1.250000").ranked.text, "ein Haus");
  EXPECT_EQ(read("7 ||| ein Haus ||| -1.250000").ranked.score, -1.25);
  EXPECT_EQ(read("0 ||| a b ||| -2.5 ||| 0-0 1-1").ranked.text, "a b");
  EXPECT_EQ(read("0 ||| a b ||| -2.5 ||| 0-0 1-1").ranked.score, -2.5);
  EXPECT_EQ(read("0 ||| a b ||| -2.5 |||").ranked.text, "a b");
  EXPECT_EQ(read("0 |||  ||| -0.000000").ranked.text, "");
  EXPECT_EQ(read("0 ||| a ||| b ||| -1").ranked.text, "a ||| b");
  EXPECT_LT(read("0 |||  ||| -inf").ranked.score, -1e8);
}

TEST(NBestListTest, NamesWhatIsWrong) {
  for (const char* line :
       {"", "ein Haus", "0 ||| ein Haus", "x ||| ein Haus ||| -1", "-1 ||| a ||| 1",
        "0 ||| a ||| b ||| c", "0 ||| a ||| nan", "0 ||| a ||| -1.25 ||| 93.0 |||",
        "0 ||| a ||| -1.25 ||| 20.1 ||| a (9)"}) {
    try {
      ParseNBestLine(line, "lists:3");
      ADD_FAILURE() << line;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("lists:3")) << line;
      EXPECT_THAT(error.what(), testing::HasSubstr("expected")) << line;
    }
  }
}

// The share of lists whose best hypothesis is right.
class ShareOfRight : public Metric {
 public:
  std::string Name() const override { return "right"; }
  MetricStatistics Statistics(std::string_view,
                              const std::vector<std::string_view>&) const override {
    return {};
  }
  double Score(const MetricStatistics& sums) const override {
    return static_cast<double>(sums[0]) / static_cast<double>(sums[1]);
  }
  std::string Settings() const override { return ""; }
};

// Features are noise but for one, which tells what is right; the search's own score misleads.
std::vector<ScoredList> MadeLists() {
  Random random({5});
  std::vector<ScoredList> lists(60);
  for (ScoredList& list : lists) {
    const int64_t right = random.Below(5);
    for (int64_t h = 0; h < 5; ++h) {
      list.features.push_back(
          {random.Normal(), random.Normal() + (h == right ? 1.5 : 0), random.Normal()});
      list.statistics.push_back({h == right ? 1 : 0, 1});
    }
  }
  return lists;
}

TEST(WeightSearchTest, FindsNearlyTheBestOfAGrid) {
  const std::vector<ScoredList> lists = MadeLists();
  const ShareOfRight metric;
  const std::vector<double> start = {1, 0, 0};
  const std::vector<double> found = TuneWeights(lists, metric, start);
  EXPECT_EQ(found[0], 1);
  const double score = CorpusScoreOf(lists, metric, found);
  EXPECT_GT(score, CorpusScoreOf(lists, metric, start) + 0.1);
  double best = 0;
  for (double a = -4; a <= 4; a += 0.125)
    for (double b = -2; b <= 2; b += 0.125)
      best = std::max(best, CorpusScoreOf(lists, metric, {1, a, b}));
  EXPECT_GE(score, best - 0.05);
  EXPECT_EQ(TuneWeights(lists, metric, start), found);
}

TEST(WeightSearchTest, EqualSumsStayInOrder) {
  EXPECT_EQ(OrderOf({{1, 2}, {3, 0}, {2, 1}, {9, 9}}, {1, 1}), (std::vector<size_t>{3, 0, 1, 2}));
}

}  // namespace
}  // namespace attend
