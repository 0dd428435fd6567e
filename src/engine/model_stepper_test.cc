// What a search gets from a model, however the rows come.
#include "engine/model_stepper.h"

#include <gtest/gtest.h>

#include "engine/plain_transformer.h"
#include "kernels/inference/dispatch.h"
#include "model/quantize.h"

namespace attend {
namespace {

class ModelStepperTest : public testing::TestWithParam<std::string> {};

// The three best after the last token of each prompt, read `together` tokens a step.
std::vector<Candidate> After(const std::vector<std::vector<int32_t>>& prompts, size_t together,
                             const Weights& weights) {
  Activations activations;
  ModelStepper stepper(&weights, nullptr, &activations);
  stepper.Reset(2);
  std::vector<NewSentence> sentences(prompts.size());
  for (size_t i = 0; i < prompts.size(); ++i) sentences[i].index = static_cast<int64_t>(i);
  stepper.Start(sentences);
  std::vector<Candidate> best(3 * prompts.size());
  for (size_t first = 0; first < prompts[0].size(); first += together) {
    std::vector<StepRow> rows;
    for (size_t i = 0; i < prompts.size(); ++i) {
      const size_t last = std::min(prompts[i].size(), first + together);
      for (size_t t = first; t < last; ++t) {
        StepRow& row = rows.emplace_back();
        row.hypothesis = static_cast<int32_t>(2 * i);
        row.token = prompts[i][t];
        row.asks = t + 1 == last;
      }
    }
    stepper.Step(rows, 3, best.data());
  }
  return best;
}

TEST_P(ModelStepperTest, APromptReadAtOnceGivesTheBitsOfOneReadTokenByToken) {
  const auto model = MakeModel(SmallLanguageModel());
  std::vector<std::vector<int32_t>> prompts = RandomSentences(5, 1, 3);
  Random random({4});
  for (std::vector<int32_t>& prompt : prompts) {
    prompt.assign(12, 2);
    for (size_t t = 1; t < prompt.size(); ++t) prompt[t] = static_cast<int32_t>(random.Below(40));
  }
  for (const WeightType type : {WeightType::kF32, WeightType::kInt8}) {
    const Weights weights(WithWeights(model, type), GetParam());
    const std::vector<Candidate> want = After(prompts, 1, weights);
    for (const size_t together : {size_t{4}, size_t{12}}) {
      const std::vector<Candidate> got = After(prompts, together, weights);
      for (size_t i = 0; i < want.size(); ++i) {
        EXPECT_EQ(got[i].id, want[i].id);
        EXPECT_EQ(got[i].log_probability, want[i].log_probability);
      }
    }
    for (size_t i = 0; i < prompts.size(); ++i) {
      const auto alone = After({prompts[i]}, 12, weights);
      EXPECT_EQ(alone[0].id, want[3 * i].id);
      EXPECT_EQ(alone[0].log_probability, want[3 * i].log_probability);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ModelStepperTest, testing::ValuesIn(AvailableInstructionSets()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace attend
