// What each word of a transcript looks at in the recording: the decoder's cross-attention while it
// writes the word, over the spectrogram that the model reads.
#ifndef ATTEND_TASKS_TRANSCRIPTION_RECORDING_ATTENTION_H_
#define ATTEND_TASKS_TRANSCRIPTION_RECORDING_ATTENTION_H_

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "attend/model_config.h"
#include "attend/translator.h"
#include "base/json.h"
#include "media/picture.h"

namespace attend {

// Bounds what is kept.
struct AttentionBounds {
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  int64_t segments = kNone;           // of a recording, the first ones
  int64_t columns = kNone;            // of a segment; rows of the encoder that share one are added
  int64_t numbers = kNone;            // of heads; a segment's that has more are left out
  int64_t spectrogram_width = kNone;  // pixels
};

// What pages and HTTP answers show: 32 segments, 2^20 numbers of heads and as many of means at
// most.
constexpr AttentionBounds kShownAttention{
    .segments = 32, .columns = 200, .numbers = int64_t{1} << 20, .spectrogram_width = 600};

// Of a segment with W words, whose sound is C columns of equal length. A word's row is the mean
// over the tokens it is written with, a word without tokens of its own has the row of the word
// before it. A row adds to 1, or, where silence fills the segment up, to less by what that gets.
struct SegmentAttention {
  int64_t columns = 0;
  std::vector<float> mean_WC;  // of all heads of the layer that words' times are read from
  std::vector<std::vector<std::vector<float>>> heads_WC;  // [layers][heads]; none: left out
  Picture spectrogram;                                    // grey, without the silence
};

// Takes a segment's attention, row by row.
class AttentionCollector {
 public:
  // `word_of_token` numbers the word of each token, rising (-1: none); `rows` are those of the
  // encoder that are sound. All must outlive it.
  AttentionCollector(const ModelConfig& config, std::span<const int64_t> word_of_token,
                     int64_t rows, const AttentionBounds& bounds, SegmentAttention* attention);
  // What the row that writes `token` looks at in a layer, [heads, keys].
  void Add(int64_t layer, int64_t token, const float* weights_HS, int64_t keys);
  // With so many words in all.
  void Finish(int64_t words);

 private:
  const ModelConfig& config_;
  std::span<const int64_t> word_of_token_;
  std::vector<int64_t> tokens_of_word_;
  int64_t rows_;
  SegmentAttention* attention_;
};

// {"alignment_layer", "segments": [{"begin", "end", "spectrogram", "columns", "words", "mean",
// "heads"}]} of the first segments of a recording, as many as have attention and as have at most
// `numbers` of "mean" together. Weights are whole ten-thousandths. "heads" is null where the heads
// before and these would have more than `numbers`.
Json RecordingAttentionToJson(const ModelConfig& config,
                              std::span<const TranscriptSegment> segments,
                              std::span<const SegmentAttention> attention,
                              int64_t numbers = kShownAttention.numbers);

// The same of one segment alone, with the weights themselves.
Json SegmentAttentionToJson(const TranscriptSegment& segment, const SegmentAttention& attention);

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSCRIPTION_RECORDING_ATTENTION_H_
