#include "tasks/samples.h"

#include <gmock/gmock.h>

#include <cmath>

#include "attend/error.h"
#include "engine/plain_transformer.h"
#include "tasks/label_model_fixture.h"

namespace attend {
namespace {

Sample SampleOfIds(std::vector<int32_t> source_ids, std::vector<int32_t> target_ids) {
  Sample sample;
  sample.source_ids = std::move(source_ids);
  sample.target_ids = std::move(target_ids);
  return sample;
}

std::string WhyNot(const LoadedModel& loaded, const Sample& sample) {
  try {
    ReplaySamples(loaded, {&sample, 1}, 1);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "";
}

TEST(Samples, OfAnEncoderAreWhatThePlainFormulasGive) {
  const auto model = MakeLabelModel("tagging", Pooling::kTokens, {"O", "B-X", "I-X"});
  const Sample sample = SampleOfIds({2, 9, 3}, {1, 2, 0});
  const auto found = ReplaySamples(*Load(model), {&sample, 1}, 1)[0];
  const Matrix logits_TL = Plain(*model).EncoderLogits(sample.source_ids);
  ASSERT_EQ(found.size(), 3U);
  for (size_t t = 0; t < found.size(); ++t) {
    double sum = 0;
    for (const float logit : logits_TL[t]) sum += std::exp(logit);
    EXPECT_NEAR(found[t], logits_TL[t][sample.target_ids[t]] - std::log(sum), 1e-4);
  }
}

TEST(Samples, OfTranslationsReadWhatStandsAroundATextToo) {
  ModelConfig config = SmallConfig();
  config.source_begin = {10};
  config.source_end = {11};
  config.target_begin = {12, 13};
  const auto model = MakeModel(config);
  const std::vector<int32_t> source = {5, 6, 7};
  const Sample made = RemakeSamples(model, {SampleOfIds(config.EncoderIds(source), {})})[0];
  EXPECT_EQ(made.source_ids, (std::vector<int32_t>{10, 5, 6, 7, 3, 11}));
  ASSERT_GT(made.target_ids.size(), 2U);
  const auto want = Plain(*model).LogProbabilities(source, made.target_ids);
  const auto replayed = ReplaySamples(*Load(model), {&made, 1}, 1)[0];
  ASSERT_EQ(replayed.size(), made.target_ids.size());
  for (size_t t = 0; t < replayed.size(); ++t) {
    EXPECT_NEAR(made.token_log_probabilities[t], want[t], 1e-4);
    EXPECT_NEAR(replayed[t], want[t], 1e-4);
    EXPECT_EQ(made.top_logits[t].position, static_cast<int64_t>(t));
  }
}

TEST(Samples, OfAnEncoderHaveATargetForEachRowOfItsHead) {
  const auto tagger = Load(MakeLabelModel("tagging", Pooling::kTokens, {"O", "B-X", "I-X"}));
  const auto classifier = Load(MakeLabelModel("classification", Pooling::kMean, {"a", "b"}));
  EXPECT_THAT(WhyNot(*tagger, SampleOfIds({2, 9, 3}, {1})),
              testing::HasSubstr("has 1 target_ids, expected 3"));
  EXPECT_THAT(WhyNot(*classifier, SampleOfIds({2, 9, 3}, {1, 0, 0})),
              testing::HasSubstr("has 3 target_ids, expected 1"));
  EXPECT_EQ(WhyNot(*classifier, SampleOfIds({2, 9, 3}, {1})), "");
}

}  // namespace
}  // namespace attend
