// Models that lack a stack, against the plain formulas.
#include "engine/forward.h"

#include <gtest/gtest.h>

#include "engine/output_layer.h"
#include "engine/plain_transformer.h"
#include "kernels/inference/dispatch.h"

namespace attend {
namespace {

class ForwardTest : public testing::TestWithParam<std::string> {};

TEST_P(ForwardTest, AnEncoderAloneGivesHiddenStates) {
  ModelConfig config = SmallConfig();
  config.decoder.reset();
  config.head = HeadKind::kNone;
  config.encoder->norm_place = NormPlace::kPre;
  const auto model = MakeModel(config);
  const Weights weights(model, GetParam());
  EXPECT_FALSE(weights.decoder);
  EXPECT_FALSE(weights.vocabulary_head);
  const std::vector<std::vector<int32_t>> sentences = RandomSentences(3, 9, 1);
  const std::vector<std::span<const int32_t>> given(sentences.begin(), sentences.end());
  Activations activations;
  Encode(weights, given, {}, &activations);
  const float* row_D = activations.memory_SD.Get(0);
  for (const std::vector<int32_t>& sentence : sentences) {
    for (const std::vector<double>& want_D : Plain(*model).Encode(sentence)) {
      for (const double want : want_D) EXPECT_NEAR(*row_D++, want, 1e-5);
    }
  }
}

TEST_P(ForwardTest, ADecoderAloneReadsNoSource) {
  const auto model = MakeModel(SmallLanguageModel());
  const Weights weights(model, GetParam());
  const std::vector<int32_t> ids = {2, 7, 9, 4, 30, 12};
  Activations activations;
  DecoderCache cache;
  StartAll(weights, std::vector<std::vector<int32_t>>(1), {}, &activations, &cache);
  std::vector<DecoderRow> rows;
  for (const int32_t id : ids) rows.push_back({0, id});
  Decode(weights, rows, {}, &activations, &cache);
  std::vector<float> logits_RV(rows.size() * 40);
  Logits(weights, std::ssize(rows), &activations, logits_RV.data());
  const Matrix want_RV = Plain(*model).Logits({}, ids);
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t v = 0; v < 40; ++v) EXPECT_NEAR(logits_RV[r * 40 + v], want_RV[r][v], 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ForwardTest, testing::ValuesIn(AvailableInstructionSets()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace attend
