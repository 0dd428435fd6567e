#include "tasks/encoder_attention.h"

#include <gmock/gmock.h>

#include "attend/error.h"
#include "engine/plain_transformer.h"
#include "tasks/label_model_fixture.h"

namespace attend {
namespace {

std::vector<std::string> AttentionPieces(const LoadedModel& loaded,
                                         const std::vector<int32_t>& ids) {
  std::vector<std::string> pieces;
  for (const int32_t id : ids) pieces.push_back(loaded.source().Piece(id));
  return pieces;
}

TEST(EncoderAttention, EqualsThePlainFormulas) {
  for (const auto& model : {MakeLabelModel("tagging", Pooling::kTokens, {"O", "B-X", "I-X"}),
                            MakeLabelModel("classification", Pooling::kMean, {"a", "b"})}) {
    const auto loaded = Load(model);
    const EncoderAttention found = AttentionOfEncoder(*loaded, "lumi tavo, kesi.");
    Plain plain(*model);
    plain.EncoderLogits(found.ids);
    ASSERT_EQ(std::ssize(found.weights), model->config.encoder->layers);
    for (size_t layer = 0; layer < found.weights.size(); ++layer) {
      const auto& want =
          plain.attention.at("encoder.layers." + std::to_string(layer) + ".self_attention");
      ASSERT_EQ(found.weights[layer].size(), want.size());
      for (size_t h = 0; h < want.size(); ++h) {
        ASSERT_EQ(found.weights[layer][h].size(), found.ids.size());
        for (size_t t = 0; t < found.ids.size(); ++t)
          for (size_t s = 0; s < found.ids.size(); ++s)
            EXPECT_NEAR(found.weights[layer][h][t][s], want[h][t][s], 1e-5);
      }
    }
  }
}

// A tagger reads words, which punctuation divides; a classifier the text as it stands.
TEST(EncoderAttention, ReadsTextAsItsTaskDoes) {
  const auto tagger = Load(MakeLabelModel("tagging", Pooling::kTokens, {"O", "B-X", "I-X"}));
  const auto classifier = Load(MakeLabelModel("classification", Pooling::kMean, {"a", "b"}));
  const auto read = [](const LoadedModel& loaded) {
    return AttentionPieces(loaded, AttentionOfEncoder(loaded, "lumi, tavo").ids);
  };
  EXPECT_EQ(read(*tagger).front(), "<s>");
  EXPECT_EQ(read(*tagger).back(), "</s>");
  EXPECT_NE(read(*tagger), read(*classifier));
}

TEST(EncoderAttention, RefusesATextThatIsTooLong) {
  const auto tagger = Load(MakeLabelModel("tagging", Pooling::kTokens, {"O", "B-X", "I-X"}));
  std::string text;
  for (int i = 0; i < 30; ++i) text += "lumi ";
  try {
    AttentionOfEncoder(*tagger, text);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("longer than the 22 tokens"));
  }
}

}  // namespace
}  // namespace attend
