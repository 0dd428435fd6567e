// Several models that translate together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "attend/error.h"
#include "attend/scorer.h"
#include "attend/translator.h"
#include "engine/plain_transformer.h"
#include "kernels/inference/dispatch.h"
#include "tasks/loaded_model.h"

namespace attend {
namespace {

std::shared_ptr<const Model> EnsembleModel(uint64_t seed, int64_t layers = 1) {
  ModelConfig config = SmallConfig();
  config.tie_target_output = false;
  config.encoder->layers = config.decoder->layers = layers;
  return MakeModel(config, seed);
}

std::shared_ptr<const LoadedModel> LoadedFor(const std::shared_ptr<const Model>& model,
                                             const std::string& instruction_set = "",
                                             WeightType type = WeightType::kStored) {
  return Load(model, {.type = type, .instruction_set = instruction_set});
}

class EnsembleTest : public testing::TestWithParam<std::string> {};

TEST_P(EnsembleTest, HypothesesHaveTheMeanOfTheScoresAndAreAloneAsBesideOthers) {
  const auto sources = RandomSentences(12, 9, 5);
  for (const WeightType type : {WeightType::kF32, WeightType::kInt8}) {
    const auto a = LoadedFor(EnsembleModel(3), GetParam(), type),
               b = LoadedFor(EnsembleModel(4, 2), GetParam(), type);
    const Translator both({a, b}, {3, 1}, {.threads = 2});
    const Scorer of_a(a, 1), of_b(b, 1);
    for (const bool sample : {false, true}) {
      const TranslationOptions options{.n_best = 3, .sample = sample, .max_length = 12};
      const auto together = both.TranslateIds(sources, options);
      for (size_t i = 0; i < sources.size(); ++i) {
        const auto alone = both.TranslateIds({&sources[i], 1}, options)[0];
        for (size_t n = 0; n < together[i].hypotheses.size(); ++n) {
          const Hypothesis& found = together[i].hypotheses[n];
          EXPECT_EQ(found.ids, alone.hypotheses[n].ids);
          EXPECT_EQ(found.log_probability, alone.hypotheses[n].log_probability);
          // What was cut at the maximum length has no eos.
          const size_t written = found.ids.size() + (found.finished ? 1 : 0);
          const auto score = [&](const Scorer& scorer) {
            const auto scored = scorer.ScoreIds({&sources[i], 1}, {&found.ids, 1});
            const auto& tokens = scored[0].token_log_probabilities;
            return std::accumulate(tokens.begin(), tokens.begin() + written, 0.0);
          };
          EXPECT_NEAR(found.log_probability, 0.75 * score(of_a) + 0.25 * score(of_b), 2e-5);
        }
      }
    }
  }
}

TEST_P(EnsembleTest, AModelBesideItselfGivesItsBits) {
  const auto model = LoadedFor(EnsembleModel(3), GetParam());
  const auto sources = RandomSentences(12, 9, 6);
  const Translator alone(model, {.threads = 1}), twice({model, model}, {}, {.threads = 1});
  const TranslationOptions options{.n_best = 2, .repetition_penalty = 1.2, .max_length = 12};
  const auto want = alone.TranslateIds(sources, options),
             got = twice.TranslateIds(sources, options);
  for (size_t i = 0; i < sources.size(); ++i) {
    ASSERT_EQ(got[i].hypotheses.size(), want[i].hypotheses.size());
    for (size_t n = 0; n < want[i].hypotheses.size(); ++n) {
      EXPECT_EQ(got[i].hypotheses[n].ids, want[i].hypotheses[n].ids);
      EXPECT_EQ(got[i].hypotheses[n].log_probability, want[i].hypotheses[n].log_probability);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EnsembleTest, testing::ValuesIn(AvailableInstructionSets()),
                         [](const auto& info) { return info.param; });

std::string EnsembleComplaint(const ModelConfig& other, const std::vector<double>& weights = {},
                              const TranslatorOptions& options = {.threads = 1}) {
  try {
    const Translator both({LoadedFor(EnsembleModel(3)), LoadedFor(MakeModel(other))}, weights,
                          options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(EnsembleErrorsTest, NameWhatDiffers) {
  using testing::HasSubstr;
  const ModelConfig config = EnsembleModel(3)->config;
  EXPECT_EQ(EnsembleComplaint(config), "");
  ModelConfig other = SmallConfig(41);
  EXPECT_THAT(EnsembleComplaint(other), HasSubstr("vocabulary of size 41, expected 40"));
  other = config;
  other.source_eos = false;
  EXPECT_THAT(EnsembleComplaint(other), HasSubstr("around a source"));
  other = config;
  other.target_begin = {7};
  EXPECT_THAT(EnsembleComplaint(other), HasSubstr("before a target [7], expected []"));
  EXPECT_THAT(EnsembleComplaint(config, {1}), HasSubstr("1 weights for 2 models"));
  EXPECT_THAT(EnsembleComplaint(config, {1, -1}), HasSubstr("weight is -1"));
  EXPECT_THAT(EnsembleComplaint(config, {0, 0}), HasSubstr("above 0"));
  EXPECT_THAT(EnsembleComplaint(config, {}, {.threads = 1, .shortlist = "list"}),
              HasSubstr("shortlist"));
}

}  // namespace
}  // namespace attend
