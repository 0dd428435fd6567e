// A model that writes from right to left beside one of the same weights that does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "attend/error.h"
#include "attend/scorer.h"
#include "attend/translator.h"
#include "engine/plain_transformer.h"
#include "text/ascii.h"
#include "text/target_order.h"
#include "text/vocabulary_fixture.h"

namespace attend {
namespace {

std::shared_ptr<const Model> OrderedModel(bool right_to_left) {
  auto model = std::make_shared<Model>(*MakeModel(SmallConfig(60)));
  model->source_vocabulary = model->target_vocabulary = Train(SmallBpe());
  AddTargetOrder(right_to_left, &model->tokenization);
  return model;
}

const std::vector<std::string> kTexts = {"the old house", "ein altes Haus", "an old house is new",
                                         "das Haus ist alt und neu"};

std::vector<int32_t> Backwards(std::vector<int32_t> ids) {
  std::ranges::reverse(ids);
  return ids;
}

TEST(RightToLeftTest, TextsAreTurnedAround) {
  const Translator usual(OrderedModel(false), {.threads = 1}),
      backwards(OrderedModel(true), {.threads = 1});
  const auto vocabulary = Vocabulary::FromBytes(OrderedModel(false)->target_vocabulary, "test");
  const TranslationOptions options{.n_best = 2, .max_length = 12, .alignments = true};
  const auto want = usual.Translate(kTexts, options), got = backwards.Translate(kTexts, options);
  int64_t differ = 0;
  for (size_t i = 0; i < kTexts.size(); ++i) {
    const Hypothesis &of_want = want[i].hypotheses[0], &of_got = got[i].hypotheses[0];
    EXPECT_EQ(of_got.ids, of_want.ids);
    EXPECT_EQ(of_got.log_probability, of_want.log_probability);
    EXPECT_EQ(of_got.text, Trimmed(vocabulary->Decode(Backwards(of_want.ids))));
    differ += of_got.text != of_want.text;
    EXPECT_TRUE(std::ranges::is_sorted(of_got.alignment, {}, &AlignmentLink::target));
  }
  EXPECT_GT(differ, 0);
}

TEST(RightToLeftTest, GivenTextsHaveTheScoreOfTheirIdsFromTheEnd) {
  const Scorer usual(OrderedModel(false), 1), backwards(OrderedModel(true), 1);
  const auto vocabulary = Vocabulary::FromBytes(OrderedModel(false)->target_vocabulary, "test");
  for (const std::string& text : kTexts) {
    const std::vector<int32_t> source = vocabulary->Encode(kTexts[0]),
                               target = Backwards(vocabulary->Encode(text));
    const auto want = usual.ScoreIds({&source, 1}, {&target, 1})[0];
    const auto got = backwards.Score({&kTexts[0], 1}, {&text, 1})[0];
    EXPECT_EQ(got.log_probability, want.log_probability);
  }
}

template <class Call>
std::string ComplaintOf(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(RightToLeftTest, RefusesWhatNeedsABeginning) {
  using testing::HasSubstr;
  const Translator translator(OrderedModel(true), {.threads = 1});
  const std::string prefix = "das";
  EXPECT_THAT(ComplaintOf([&] { translator.Translate({&kTexts[0], 1}, {}, {&prefix, 1}); }),
              HasSubstr("leave out target_prefix"));
  EXPECT_THAT(ComplaintOf([&] { translator.Alternatives(kTexts[0], "", 3); }),
              HasSubstr("leave out alternatives"));
  EXPECT_THAT(ComplaintOf([&] {
                const Translator both({Load(OrderedModel(true)), Load(OrderedModel(false))}, {},
                                      {.threads = 1});
              }),
              HasSubstr("targets written from left to right, expected right to left"));
  auto other = std::make_shared<Model>(*OrderedModel(false));
  other->tokenization["target_order"] = "upwards";
  EXPECT_THAT(ComplaintOf([&] { const Translator none(other, {.threads = 1}); }),
              HasSubstr("target_order is \"upwards\", expected \"right_to_left\""));
}

}  // namespace
}  // namespace attend
