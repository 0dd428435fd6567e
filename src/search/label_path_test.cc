#include "search/label_path.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "base/random.h"

namespace attend {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

double ScoreOf(const std::vector<int32_t>& labels, std::span<const float> scores_TL,
               const LabelTransitions& transitions) {
  const size_t count = transitions.begin_L.size();
  double score = static_cast<double>(transitions.begin_L[labels.front()]) +
                 static_cast<double>(transitions.end_L[labels.back()]);
  for (size_t word = 0; word < labels.size(); ++word) {
    score += static_cast<double>(scores_TL[word * count + labels[word]]);
    if (word > 0)
      score += static_cast<double>(transitions.next_LL[labels[word - 1] * count + labels[word]]);
  }
  return score;
}

// All sequences, one after another.
LabelPath BestByEnumeration(std::span<const float> scores_TL, const LabelTransitions& transitions) {
  const auto count = static_cast<int32_t>(transitions.begin_L.size());
  std::vector<int32_t> labels(scores_TL.size() / count);
  LabelPath best{{}, -std::numeric_limits<double>::infinity()};
  while (true) {
    const double score = ScoreOf(labels, scores_TL, transitions);
    if (score > best.score) best = {labels, score};
    size_t word = 0;
    while (word < labels.size() && ++labels[word] == count) labels[word++] = 0;
    if (word == labels.size()) return best;
  }
}

TEST(LabelPath, IsTheBestOfAllSequences) {
  Random random{1};
  for (int round = 0; round < 200; ++round) {
    const int64_t labels = 1 + static_cast<int64_t>(random.Below(4));
    const int64_t words = 1 + static_cast<int64_t>(random.Below(5));
    LabelTransitions transitions = LabelTransitions::Free(labels);
    const auto fill = [&](std::vector<float>* scores, bool some_never) {
      for (float& score : *scores)
        score = some_never && random.Below(4) == 0
                    ? kNever
                    : static_cast<float>(random.Below(1000000)) * 1e-6F - 0.5F;
    };
    fill(&transitions.begin_L, true);
    fill(&transitions.end_L, true);
    fill(&transitions.next_LL, true);
    std::vector<float> scores_TL(words * labels);
    fill(&scores_TL, false);
    const LabelPath expected = BestByEnumeration(scores_TL, transitions);
    if (expected.labels.empty()) continue;
    const LabelPath found = BestLabels(scores_TL, transitions);
    EXPECT_EQ(found.labels, expected.labels);
    EXPECT_NEAR(found.score, expected.score, 1e-12);
  }
}

TEST(LabelPath, LeavesOutTransitionsThatAllowNothing) {
  LabelTransitions transitions = LabelTransitions::Free(2);
  transitions.begin_L = {kNever, kNever};
  EXPECT_THAT(BestLabels(std::vector<float>{0, 1, 1, 0}, transitions).labels,
              testing::ElementsAre(1, 0));
  EXPECT_TRUE(BestLabels({}, transitions).labels.empty());
}

TEST(LabelPosterior, IsTheShareOfAllSequences) {
  const LabelTransitions transitions{{0.2F, kNever}, {0.1F, 0.4F}, {0.5F, -0.25F, kNever, 1}};
  const std::vector<float> scores_TL = {0.3F, 0, -1, 0.75F, 0.5F, 2};
  double all = 0, both = 0;
  for (int32_t code = 0; code < 8; ++code) {
    const std::vector<int32_t> labels = {code & 1, (code >> 1) & 1, code >> 2};
    const double share = std::exp(ScoreOf(labels, scores_TL, transitions));
    all += share;
    if (labels[1] == 1 && labels[2] == 1) both += share;
  }
  const LabelPosterior posterior(scores_TL, transitions);
  EXPECT_NEAR(posterior.Probability(1, std::vector{1, 1}), both / all, 1e-12);
  EXPECT_EQ(posterior.Probability(0, std::vector{1}), 0);
  const double first = posterior.Probability(2, std::vector{0});
  EXPECT_NEAR(first + posterior.Probability(2, std::vector{1}), 1, 1e-12);
}

}  // namespace
}  // namespace attend
