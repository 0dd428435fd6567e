#include "tasks/transcription/recording_attention.h"

#include <gmock/gmock.h>

#include <numeric>

namespace attend {
namespace {

using testing::ElementsAre;

ModelConfig TwoHeads(int64_t layers, int64_t alignment_layer) {
  ModelConfig config;
  config.decoder = StackConfig{.layers = layers, .heads = 2};
  config.alignment_layer = alignment_layer;
  return config;
}

// Three tokens of two words over four rows of sound and one of silence, by hand.
TEST(AttentionCollector, MakesRowsOfWords) {
  const ModelConfig config = TwoHeads(/*layers=*/1, /*alignment_layer=*/0);
  const std::vector<int64_t> word_of_token = {0, 1, 1};
  SegmentAttention found;
  AttentionCollector collector(config, word_of_token, 4, {.columns = 2}, &found);
  const std::vector<float> first = {0.5, 0.25, 0.25, 0, 0, /*head 2*/ 0, 0, 0, 0.5, 0.5},
                           second = {0, 0, 0, 1, 0, /*head 2*/ 0.25, 0.25, 0.25, 0.25, 0},
                           third = {0, 1, 0, 0, 0, /*head 2*/ 0.75, 0, 0, 0, 0.25},
                           end = {0, 0, 0, 0, 1, /*head 2*/ 0, 0, 0, 0, 1};
  collector.Add(0, 0, first.data(), 5);
  collector.Add(0, 1, second.data(), 5);
  collector.Add(0, 2, third.data(), 5);
  collector.Add(0, 3, end.data(), 5);  // of no word
  collector.Finish(3);                 // the third word has no token of its own
  EXPECT_EQ(found.columns, 2);
  EXPECT_THAT(found.heads_WC[0][0], ElementsAre(0.75, 0.25, 0.5, 0.5, 0.5, 0.5));
  EXPECT_THAT(found.heads_WC[0][1], ElementsAre(0, 0.5, 0.625, 0.25, 0.625, 0.25));
  EXPECT_THAT(found.mean_WC, ElementsAre(0.375, 0.375, 0.5625, 0.375, 0.5625, 0.375));
}

// The mean is of the alignment layer alone; columns that do not divide the rows have all of them.
TEST(AttentionCollector, TakesTheMeanOfTheAlignmentLayer) {
  const ModelConfig config = TwoHeads(/*layers=*/2, /*alignment_layer=*/1);
  const std::vector<int64_t> word_of_token = {-1, 0};
  SegmentAttention found;
  AttentionCollector collector(config, word_of_token, 5, {.columns = 3}, &found);
  const std::vector<float> blank(10, 0.2F), one = {0.125, 0.125, 0.25, 0.25, 0.25, 0, 1, 0, 0, 0},
                                            two(10, 0.2F);
  collector.Add(0, 0, blank.data(), 5);
  collector.Add(0, 1, one.data(), 5);
  collector.Add(1, 1, two.data(), 5);
  collector.Finish(1);
  EXPECT_THAT(found.heads_WC[0][0], ElementsAre(0.125, 0.375, 0.5));
  EXPECT_THAT(found.mean_WC, ElementsAre(0.0625, 0.6875, 0.25));
  EXPECT_FLOAT_EQ(std::accumulate(found.heads_WC[1][1].begin(), found.heads_WC[1][1].end(), 0.0F),
                  1);
}

SegmentAttention OfWords(const ModelConfig& config, int64_t words, const AttentionBounds& bounds) {
  std::vector<int64_t> word_of_token(words);
  std::iota(word_of_token.begin(), word_of_token.end(), 0);
  SegmentAttention found;
  AttentionCollector collector(config, word_of_token, 10, bounds, &found);
  const std::vector<float> weights(20, 0.1F);
  for (int64_t word = 0; word < words; ++word) collector.Add(0, word, weights.data(), 10);
  collector.Finish(words);
  found.spectrogram = Picture(1, 1, 1);
  return found;
}

TEST(RecordingAttention, IsBounded) {
  const ModelConfig config = TwoHeads(1, 0);
  // 2 heads of 3 words and 10 columns are 60 numbers.
  EXPECT_EQ(OfWords(config, 3, {.numbers = 60}).heads_WC.size(), 1);
  EXPECT_EQ(OfWords(config, 3, {.numbers = 59}).heads_WC.size(), 0);
  const std::vector<TranscriptSegment> segments(4);
  std::vector<SegmentAttention> attention(3, OfWords(config, 3, {}));
  const auto of = [&](int64_t numbers) {
    return RecordingAttentionToJson(config, segments, attention, numbers)["segments"];
  };
  EXPECT_EQ(of(1000).size(), 3);
  EXPECT_EQ(of(1000)[2]["heads"][0][1][2], Json(std::vector<int>(10, 1000)));
  EXPECT_EQ(of(120).size(), 3);
  EXPECT_FALSE(of(120)[1]["heads"].is_null());
  EXPECT_TRUE(of(120)[2]["heads"].is_null());
  EXPECT_EQ(of(120)[2]["mean"].size(), 3);
  EXPECT_EQ(of(89).size(), 2);  // 30 numbers of mean each
  attention[0].heads_WC.clear();
  EXPECT_FALSE(of(120)[2]["heads"].is_null());
}

}  // namespace
}  // namespace attend
