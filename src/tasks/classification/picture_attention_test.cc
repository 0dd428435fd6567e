#include "tasks/classification/picture_attention.h"

#include <gmock/gmock.h>

#include "attend/error.h"
#include "tasks/encoder_attention.h"
#include "tasks/label_model_fixture.h"

namespace attend {
namespace {

// Two patches beside each other, with or without a class token.
ModelConfig TwoPatches(bool class_token, Pooling pooling) {
  ModelConfig config;
  config.patches = PatchInput{.height = 4, .width = 8, .channels = 1, .patch = 4};
  config.patches->class_token = class_token;
  config.pooling = pooling;
  return config;
}

MATCHER_P(AreNear, want, "") {
  if (arg.size() != want.size()) return false;
  for (size_t i = 0; i < want.size(); ++i)
    if (std::abs(arg[i] - want[i]) > 1e-6) return false;
  return true;
}

using Floats = std::vector<float>;

// By hand: the second layer's row of the class token, mixed with itself, times the first layer's.
TEST(PictureAttention, RollsOutThroughLayers) {
  const AttentionWeights weights = {
      {{{0.5, 0.25, 0.25}, {0.2, 0.4, 0.4}, {0, 0, 1}}},
      {{{0.2, 0.8, 0}, {1, 0, 0}, {0, 1, 0}}, {{0.2, 0.4, 0.4}, {1, 0, 0}, {0, 1, 0}}}};
  const PictureAttention found =
      PictureAttentionOf(weights, TwoPatches(/*class_token=*/true, Pooling::kFirst));
  EXPECT_EQ(found.rows, 1);
  EXPECT_EQ(found.columns, 2);
  EXPECT_THAT(found.heads[0][0], AreNear(Floats{0.25, 0.25}));
  EXPECT_THAT(found.heads[1][0], AreNear(Floats{0.8, 0}));
  EXPECT_THAT(found.heads[1][1], AreNear(Floats{0.4, 0.4}));
  // The second layer's first row: 0.5 * (0.2, 0.6, 0.2) + (0.5, 0, 0) = (0.6, 0.3, 0.1); the first
  // layer's: (0.75, 0.125, 0.125), (0.1, 0.7, 0.2), (0, 0, 1).
  EXPECT_THAT(found.rollout,
              AreNear(Floats{0.6 * 0.125 + 0.3 * 0.7, 0.6 * 0.125 + 0.3 * 0.2 + 0.1}));
}

TEST(PictureAttention, WithoutClassTokenIsTheMeanOverPatches) {
  const AttentionWeights weights = {{{{0.5, 0.5}, {0.1, 0.9}}}};
  const PictureAttention found =
      PictureAttentionOf(weights, TwoPatches(/*class_token=*/false, Pooling::kMean));
  EXPECT_THAT(found.heads[0][0], AreNear(Floats{0.3, 0.7}));
  EXPECT_THAT(found.rollout, AreNear(Floats{0.5 * 0.3 + 0.25, 0.5 * 0.7 + 0.25}));
}

TEST(PictureAttention, OfAModelAddsToOne) {
  const auto loaded = Load(MakePictureModel());
  const std::vector<uint8_t> pixels(28 * 28, 77);
  const AttentionWeights weights = AttentionOfPicture(*loaded, pixels);
  ASSERT_EQ(std::ssize(weights), loaded->config().encoder->layers);
  for (const auto& heads : weights) {
    for (const auto& head : heads) {
      ASSERT_EQ(head.size(), 50u);
      for (const auto& row : head) {
        double sum = 0;
        for (const float share : row) sum += share;
        EXPECT_NEAR(sum, 1, 1e-5);
      }
    }
  }
  EXPECT_EQ(PictureAttentionOf(weights, loaded->config()).rollout.size(), 49u);
  const auto of_text = Load(MakeLabelModel("classification", Pooling::kMean, {"a", "b"}));
  EXPECT_THROW(AttentionOfPicture(*of_text, pixels), Error);
}

}  // namespace
}  // namespace attend
