#include "tasks/transcription/timed_words.h"

#include <algorithm>
#include <vector>

#include "tasks/transcription/word_times.h"

namespace attend {
namespace {

// [tokens + 1, columns]: what the rows that write these tokens, and the end after them, look at in
// the alignment layer, the mean of its heads.
std::vector<float> WritingAttention(const Weights& weights, std::span<const float> numbers,
                                    std::span<const int32_t> ids, int64_t columns,
                                    ForcedDecoding* decoding) {
  const ModelConfig& config = weights.config();
  const TextFrame frame = config.TargetFrame();
  const int64_t prompt = std::ssize(frame.begin) - 1;  // rows before the one that writes
  std::vector<float> mean_TS((ids.size() + 1) * columns);
  Sinks sinks;
  sinks.attention = [&](AttentionPlace place, int64_t layer, int64_t row, const float* weights_HS,
                        int64_t keys) {
    if (place != AttentionPlace::kCross || layer + 1 != config.AlignmentLayer() || row < prompt)
      return;
    float* mean_S = mean_TS.data() + (row - prompt) * columns;
    for (int64_t h = 0; h < config.decoder->heads; ++h) {
      for (int64_t s = 0; s < columns; ++s)
        mean_S[s] += weights_HS[h * keys + s] / static_cast<float>(config.decoder->heads);
    }
  };
  const EncoderItem item(numbers);
  decoding->Start(weights, {&item, 1}, sinks);
  decoding->Add(0, frame.Around(ids), prompt);
  decoding->Run(weights, sinks);
  return mean_TS;
}

}  // namespace

void AddWords(const LoadedModel& loaded, const SoundFrames& frames, std::span<const float> samples,
              ForcedDecoding* decoding, TranscriptSegment* segment) {
  const Hypothesis& best = segment->hypotheses[0];
  if (best.ids.empty()) return;
  const FrameInput& input = frames.input();
  // Rows of the silence that fills a recording up are not looked at.
  const int64_t columns = input.RowsOf(input.FramesOf(std::ssize(samples)));
  const std::vector<float> numbers = frames.Of(samples, "a segment");
  // An output that is cut may have a token more than the decoder has positions to read.
  const int64_t read = std::min(std::ssize(best.ids), loaded.config().MaxTargetTokens());
  std::vector<float> weights_TS =
      WritingAttention(loaded.weights, numbers, std::span(best.ids).first(read), columns, decoding);
  const int64_t rows = read + 1;  // the last writes what ends the text
  StandardiseColumns(rows, weights_TS);
  std::vector<int64_t> first_columns = WarpRows(rows, weights_TS);
  first_columns.resize(best.ids.size() + 1, columns);  // of what is not read, at the end
  int64_t column = input.hop;                          // samples from one to the next
  for (const int64_t stride : input.strides) column *= stride;
  const auto rate = static_cast<double>(input.rate);
  segment->words =
      TimeWords(best.text, loaded.target().WordsOfIds(best.ids), first_columns,
                static_cast<double>(column) / rate, static_cast<double>(samples.size()) / rate);
  for (TimedWord& word : segment->words) {
    word.begin = std::min(word.begin + segment->begin, segment->end);
    word.end = std::min(word.end + segment->begin, segment->end);
  }
}

}  // namespace attend
