// One loaded model under several tasks, and models that a task can't run.
#include "tasks/loaded_model.h"

#include <gtest/gtest.h>

#include "attend/error.h"
#include "attend/scorer.h"
#include "attend/translator.h"
#include "engine/plain_transformer.h"

namespace attend {
namespace {

using Sentences = std::vector<std::vector<int32_t>>;

TEST(LoadedModelTest, ATranslatorAndAScorerOverOneGiveWhatTheyGiveAlone) {
  const auto model = MakeModel(SmallConfig());
  const Sentences sources = RandomSentences(9, 9, 1), targets = RandomSentences(9, 9, 2);
  const auto own = Translator(model, {.threads = 2, .type = WeightType::kInt8})
                       .TranslateIds(sources, {.max_length = 12});
  const auto loaded = Load(model, {.type = WeightType::kInt8});
  const Translator translator(loaded, {.threads = 2});
  const Scorer scorer(loaded, 2);
  const auto shared = translator.TranslateIds(sources, {.max_length = 12});
  const auto whole = Scorer(model, 1).ScoreIds(sources, targets);
  const auto scores = scorer.ScoreIds(sources, targets);
  for (size_t i = 0; i < sources.size(); ++i) {
    EXPECT_EQ(shared[i].hypotheses[0].ids, own[i].hypotheses[0].ids);
    EXPECT_EQ(shared[i].hypotheses[0].score, own[i].hypotheses[0].score);
    EXPECT_NE(scores[i].log_probability, whole[i].log_probability);  // int8 here, too
    EXPECT_NEAR(scores[i].log_probability, whole[i].log_probability, 1);
  }
}

TEST(LoadedModelTest, AModelOfAnotherTaskIsRefused) {
  ModelConfig config = SmallConfig();
  config.task = "juggling";
  const auto loaded = Load(MakeModel(config));
  try {
    const Scorer scorer(loaded, 1);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_STREQ(error.what(), "the model's task is juggling, expected translation");
  }
  try {
    const Translator translator(Load(MakeModel(SmallLanguageModel())), {.threads = 1});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "the model's task is language_model, expected translation; run it with `attend "
                 "generate`");
  }
}

TEST(LoadedModelTest, AModelWithoutDecoderIsLoadedButNotTranslatedWith) {
  ModelConfig config = SmallConfig();
  config.decoder.reset();
  config.head = HeadKind::kNone;
  const auto loaded = Load(MakeModel(config));
  EXPECT_THROW(Translator(loaded, {.threads = 1}), Error);
}

TEST(LoadedModelTest, ASourceIsRefusedWhereNoEncoderReadsIt) {
  ModelConfig config = SmallConfig();
  config.encoder.reset();
  config.source_vocab_size = 0;
  const Scorer scorer(Load(MakeModel(config)), 1);
  EXPECT_EQ(scorer.ScoreIds(Sentences{{}}, Sentences{{5, 39}})[0].token_log_probabilities.size(),
            3u);
  EXPECT_THROW(scorer.ScoreIds(Sentences{{5}}, Sentences{{5}}), Error);
  EXPECT_THROW(scorer.ScoreIds(Sentences{{}}, Sentences{{40}}), Error);
}

}  // namespace
}  // namespace attend
