// Kinds of search beside the plain beam: outputs that are drawn, groups of a beam.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "attend/scorer.h"
#include "attend/translator.h"
#include "engine/plain_transformer.h"
#include "kernels/inference/dispatch.h"

namespace attend {
namespace {

class DrawnOutputsTest : public testing::TestWithParam<std::string> {};

TEST_P(DrawnOutputsTest, AreAloneAsBesideOthersAndHaveTheScorersBits) {
  ModelConfig config = SmallConfig();
  config.tie_target_output = false;
  const auto model = MakeModel(config);
  const auto sources = RandomSentences(30, 9, 5);
  TranslationOptions options{.n_best = 3, .sample = true, .top_k = 20, .max_length = 8};
  const Translator translator(model, {.threads = 2, .instruction_set = GetParam()});
  const Scorer scorer(model, 1, GetParam());
  const auto together = translator.TranslateIds(sources, options);
  options.seed = 2;
  const auto others = translator.TranslateIds(sources, options);
  options.seed = 1;
  int64_t differ = 0;
  for (size_t i = 0; i < sources.size(); ++i) {
    const Translation alone = translator.TranslateIds({&sources[i], 1}, options)[0];
    ASSERT_EQ(alone.hypotheses.size(), 3u);
    for (size_t n = 0; n < 3; ++n) {
      const Hypothesis& found = together[i].hypotheses[n];
      EXPECT_EQ(found.ids, alone.hypotheses[n].ids);
      EXPECT_EQ(found.log_probability, alone.hypotheses[n].log_probability);
      differ += found.ids != others[i].hypotheses[n].ids;
      if (!found.finished) continue;
      EXPECT_EQ(found.log_probability,
                scorer.ScoreIds({&sources[i], 1}, {&found.ids, 1})[0].log_probability);
    }
  }
  EXPECT_GT(differ, 60);
}

INSTANTIATE_TEST_SUITE_P(All, DrawnOutputsTest, testing::ValuesIn(AvailableInstructionSets()),
                         [](const auto& info) { return info.param; });

// Of one source under many seeds: how often outputs begin with a token, and are that token alone,
// beside the scorer's probabilities. Outputs have the tokens 4 to 6 alone.
TEST(SearchKindsTest, OutputsAreDrawnAsOftenAsTheyAreLikely) {
  ModelConfig config = SmallConfig(7);
  config.tie_target_output = false;
  const auto model = MakeModel(config);
  const std::vector<int32_t> source = {4, 6, 5};
  const Scorer scorer(model, 1);
  const auto probability = [&](const std::vector<int32_t>& ids, size_t place) {
    return std::exp(scorer.ScoreIds({&source, 1}, {&ids, 1})[0].token_log_probabilities[place]);
  };
  const Translator translator(model, {.threads = 1});
  std::map<int32_t, double> begin, alone;
  constexpr int64_t kSeeds = 80, kDraws = 64;
  for (int64_t seed = 0; seed < kSeeds; ++seed) {
    const TranslationOptions options{
        .n_best = kDraws, .sample = true, .seed = seed, .max_length = 6};
    const auto translations = translator.TranslateIds({&source, 1}, options);
    for (const Hypothesis& found : translations[0].hypotheses) {
      if (found.ids.empty()) continue;
      begin[found.ids[0]] += 1.0 / (kSeeds * kDraws);
      if (found.ids.size() == 1) alone[found.ids[0]] += 1.0 / (kSeeds * kDraws);
    }
  }
  const double all =
      probability({}, 0) + probability({4}, 0) + probability({5}, 0) + probability({6}, 0);
  for (const int32_t id : {4, 5, 6}) {
    const double first = probability({id}, 0) / all, end = probability({id}, 1);
    const double more = probability({id, 4}, 1) + probability({id, 5}, 1) + probability({id, 6}, 1);
    const double ends = first * end / (end + more);
    EXPECT_NEAR(begin[id], first, 4 * std::sqrt(first / (kSeeds * kDraws)));
    EXPECT_NEAR(alone[id], ends, 4 * std::sqrt(ends / (kSeeds * kDraws)));
  }
}

TEST(SearchKindsTest, GroupsOfABeamAndRepeatsReachTheSearch) {
  ModelConfig config = SmallConfig();
  config.tie_target_output = false;
  const Translator translator(MakeModel(config, 3), {.threads = 1});
  const auto sources = RandomSentences(20, 9, 5);
  const auto firsts = [&](const TranslationOptions& options) {
    std::set<std::pair<size_t, int32_t>> found;
    const auto translations = translator.TranslateIds(sources, options);
    for (size_t i = 0; i < translations.size(); ++i)
      for (const Hypothesis& each : translations[i].hypotheses)
        if (!each.ids.empty()) found.emplace(i, each.ids[0]);
    return found.size();
  };
  const TranslationOptions plain{.beam_size = 4, .n_best = 4, .max_length = 10};
  TranslationOptions diverse = plain, once = plain;
  diverse.beam_groups = 4;
  diverse.diversity = 5;
  EXPECT_GT(firsts(diverse), firsts(plain));
  once.no_repeat_ngram = 1;
  for (const Translation& each : translator.TranslateIds(sources, once)) {
    std::vector<int32_t> ids = each.hypotheses[0].ids;
    std::ranges::sort(ids);
    EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
  }
}

}  // namespace
}  // namespace attend
