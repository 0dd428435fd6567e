// Windows over long texts, and scores against the plain formulas.
#include "tasks/language_model/text_scoring.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/error.h"
#include "engine/plain_transformer.h"
#include "kernels/inference/dispatch.h"

namespace attend {
namespace {

TEST(TextScoringTest, EachTokenIsScoredOnceWithAsMuchContextAsTheWindowHas) {
  using Windows = std::vector<TextWindow>;
  EXPECT_EQ(WindowsOf(1, 8, 4), Windows());
  EXPECT_EQ(WindowsOf(2, 8, 4), (Windows{{0, 2, 0}}));
  EXPECT_EQ(WindowsOf(9, 8, 4), (Windows{{0, 9, 0}}));
  EXPECT_EQ(WindowsOf(10, 8, 4), (Windows{{0, 9, 0}, {4, 10, 4}}));
  EXPECT_EQ(WindowsOf(15, 8, 4), (Windows{{0, 9, 0}, {4, 13, 4}, {8, 15, 4}}));
  EXPECT_EQ(WindowsOf(12, 5, 5), (Windows{{0, 6, 0}, {5, 11, 0}, {10, 12, 0}}));
  EXPECT_EQ(WindowsOf(4, 1, 1), (Windows{{0, 2, 0}, {1, 3, 0}, {2, 4, 0}}));
}

double LogProbability(const std::vector<double>& logits_V, int32_t id) {
  double sum = 0;
  for (const double logit : logits_V) sum += std::exp(logit);
  return logits_V[id] - std::log(sum);
}

class TextScoresTest : public testing::TestWithParam<std::string> {};

TEST_P(TextScoresTest, ScoresAreThoseOfThePlainFormulas) {
  const auto model = MakeModel(SmallLanguageModel());
  const Generator generator(Load(model, {.instruction_set = GetParam()}), 2);
  const auto texts = RandomSentences(5, 30, 3);
  const auto whole = generator.ScoreIds(texts);
  const auto open = generator.ScoreIds(texts, {.end = false});
  const auto windows = generator.ScoreIds(texts, {.window = 6, .stride = 2});
  for (size_t i = 0; i < texts.size(); ++i) {
    std::vector<int32_t> read = {2};
    read.insert(read.end(), texts[i].begin(), texts[i].end());
    const Matrix logits = Plain(*model).Logits({}, read);
    read.push_back(3);
    ASSERT_EQ(whole[i].token_log_probabilities.size(), texts[i].size() + 1);
    ASSERT_EQ(open[i].token_log_probabilities.size(), texts[i].size());
    ASSERT_EQ(windows[i].token_log_probabilities.size(), texts[i].size() + 1);
    double sum = 0;
    for (size_t t = 0; t < logits.size(); ++t) {
      const double want = LogProbability(logits[t], read[t + 1]);
      sum += want;
      EXPECT_NEAR(whole[i].token_log_probabilities[t], want, 1e-5);
      if (t < texts[i].size()) {
        EXPECT_EQ(open[i].token_log_probabilities[t], whole[i].token_log_probabilities[t]);
      }
      // The window that scores it: the first, or one that begins at a multiple of 2.
      const size_t begin = t < 6 ? 0 : t / 2 * 2 - 4;
      std::vector<int32_t> seen(read.begin() + begin, read.begin() + t + 1);
      seen[0] = 2;
      const Matrix part = Plain(*model).Logits({}, seen);
      EXPECT_NEAR(windows[i].token_log_probabilities[t], LogProbability(part.back(), read[t + 1]),
                  1e-5)
          << i << " " << t;
    }
    EXPECT_NEAR(whole[i].log_probability, sum, 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(All, TextScoresTest, testing::ValuesIn(AvailableInstructionSets()),
                         [](const auto& info) { return info.param; });

TEST(TextScoringTest, AScoreDependsOnItsTextAlone) {
  const auto model = MakeModel(SmallLanguageModel());
  const auto texts = RandomSentences(40, 30, 5);
  const Generator alone(Load(model), 1), many(Load(model), 3);
  const TextScoreOptions options{.window = 8, .batch_tokens = 60};
  const auto found = many.ScoreIds(texts, options);
  for (size_t i = 0; i < texts.size(); ++i) {
    const TextScore one = alone.ScoreIds({{texts[i]}}, {.window = 8, .batch_tokens = 1})[0];
    EXPECT_EQ(found[i].token_log_probabilities, one.token_log_probabilities);
  }
}

TEST(TextScoringTest, LearnedPositionsBoundTheWindow) {
  ModelConfig config = SmallLanguageModel();
  config.decoder->positions = PositionKind::kLearned;
  config.decoder->max_positions = 12;
  const Generator generator(Load(MakeModel(config)), 1);
  const auto texts = RandomSentences(1, 40, 1);
  EXPECT_EQ(generator.ScoreIds(texts)[0].token_log_probabilities,
            generator.ScoreIds(texts, {.window = 12, .stride = 6})[0].token_log_probabilities);
  EXPECT_THROW(generator.ScoreIds(texts, {.window = 13}), Error);
  EXPECT_THROW(generator.ScoreIds(texts, {.window = 4, .stride = 5}), Error);
  EXPECT_THROW(generator.ScoreIds(texts, {.window = -1}), Error);
  EXPECT_THROW(generator.ScoreIds({{{40}}}), Error);
  EXPECT_TRUE(generator.ScoreIds({{{}}}, {.end = false})[0].token_log_probabilities.empty());
}

TEST(TextScoringTest, AStrideAboveWhatTheModelSeesAtOnceIsRefused) {
  ModelConfig config = SmallLanguageModel();
  config.decoder->positions = PositionKind::kLearned;
  config.decoder->max_positions = 12;
  const Generator generator(Load(MakeModel(config)), 1);
  const auto texts = RandomSentences(1, 90, 1);
  EXPECT_EQ(generator.ScoreIds(texts, {.stride = 12})[0].token_log_probabilities.size(),
            texts[0].size() + 1);
  try {
    generator.ScoreIds(texts, {.stride = 13});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_STREQ(error.what(),
                 "stride is 13, above the window of 12 tokens that the model sees at once; some "
                 "tokens would not be scored; lower stride");
  }
}

TEST(TextScoringTest, ACallThatIsStoppedEnds) {
  const Generator generator(Load(MakeModel(SmallLanguageModel())), 1);
  const std::atomic<bool> stop = true;
  EXPECT_THROW(generator.ScoreIds(RandomSentences(2, 9, 1), {.stop = &stop}), Error);
}

}  // namespace
}  // namespace attend
