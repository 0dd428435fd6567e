#include "tasks/transcription/timed_words.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "media/silence.h"
#include "media/spectrogram.h"
#include "tasks/transcription/word_times.h"

namespace attend {
namespace {

// [rows, columns]: what the rows that write these tokens, and the end after them where `best` has
// one, look at in the alignment layer, the mean of its heads. `collector` may be null.
std::vector<float> WritingAttention(const Weights& weights, std::span<const float> numbers,
                                    const Hypothesis& best, int64_t columns,
                                    AttentionCollector* collector, ForcedDecoding* decoding) {
  const ModelConfig& config = weights.config();
  const TextFrame frame = config.TargetFrame();
  const int64_t prompt = std::ssize(frame.begin) - 1;  // rows before the one that writes
  std::vector<int32_t> tokens = frame.Around(best.ids);
  // There may be no position left for the end of a text that was cut.
  if (!best.finished) tokens.resize(frame.begin.size() + best.ids.size());
  std::vector<float> mean_TS((tokens.size() - frame.begin.size()) * columns);
  Sinks sinks;
  sinks.attention = [&](AttentionPlace place, int64_t layer, int64_t row, const float* weights_HS,
                        int64_t keys) {
    if (place != AttentionPlace::kCross || row < prompt) return;
    if (collector != nullptr) collector->Add(layer, row - prompt, weights_HS, keys);
    if (layer + 1 != config.AlignmentLayer()) return;
    float* mean_S = mean_TS.data() + (row - prompt) * columns;
    for (int64_t h = 0; h < config.decoder->heads; ++h) {
      for (int64_t s = 0; s < columns; ++s)
        mean_S[s] += weights_HS[h * keys + s] / static_cast<float>(config.decoder->heads);
    }
  };
  const EncoderItem item(numbers);
  decoding->Start(weights, {&item, 1}, sinks);
  decoding->Add(0, tokens, prompt);
  decoding->Run(weights, sinks);
  return mean_TS;
}

// The first sample that is no silence. Nobody looks at what is before it, so words would begin
// there.
int64_t BeginOfSound(std::span<const float> samples, int64_t rate) {
  const std::vector<SoundSegment> parts = CutAtSilence(samples, rate, {});
  return parts.empty() ? 0 : parts[0].begin;
}

// Of the frames that are sound.
Picture SpectrogramOf(const FrameInput& input, std::span<const float> numbers, int64_t samples,
                      int64_t width) {
  const size_t sound = std::min<size_t>(numbers.size(), input.FramesOf(samples) * input.mels);
  return DrawSpectrogram(numbers.first(sound), input.mels, width);
}

}  // namespace

void AddWords(const LoadedModel& loaded, const SoundFrames& frames, std::span<const float> samples,
              const AttentionRequest& request, ForcedDecoding* decoding,
              TranscriptSegment* segment) {
  const Hypothesis& best = segment->hypotheses[0];
  if (best.ids.empty() && request.attention == nullptr) return;
  const FrameInput& input = frames.input();
  const std::vector<float> numbers = frames.Of(samples, "a segment");
  // Rows of the silence that fills a recording up are not looked at.
  const int64_t columns = input.RowsOf(input.FramesOf(std::ssize(samples)));
  const std::vector<int64_t> word_of_token = loaded.target().WordsOfIds(best.ids);
  std::optional<AttentionCollector> collector;
  if (request.attention != nullptr) {
    request.attention->spectrogram =
        SpectrogramOf(input, numbers, std::ssize(samples), request.bounds.spectrogram_width);
    collector.emplace(loaded.config(), word_of_token, columns, request.bounds, request.attention);
  }
  if (best.ids.empty()) return;
  std::vector<float> weights_TS = WritingAttention(loaded.weights, numbers, best, columns,
                                                   collector ? &*collector : nullptr, decoding);
  const int64_t rows = std::ssize(weights_TS) / columns;
  StandardiseColumns(rows, weights_TS);
  int64_t column = input.hop;  // samples from one to the next
  for (const int64_t stride : input.strides) column *= stride;
  // The last row of a text that ended is eos', which has the columns behind the last word.
  const std::vector<int64_t> first_column =
      WarpRows(rows, weights_TS, std::min(BeginOfSound(samples, input.rate) / column, columns - 1),
               /*whole=*/best.finished);
  const auto rate = static_cast<double>(input.rate);
  segment->words =
      TimeWords(best.text, word_of_token, first_column, static_cast<double>(column) / rate,
                static_cast<double>(samples.size()) / rate);
  for (TimedWord& word : segment->words) {
    word.begin = std::min(word.begin + segment->begin, segment->end);
    word.end = std::min(word.end + segment->begin, segment->end);
  }
  if (collector) collector->Finish(std::ssize(segment->words));
}

}  // namespace attend
