#include "tasks/transcription/segments.h"

#include <algorithm>
#include <limits>

namespace attend {
namespace {

// Samples that the model reads at once.
int64_t MostSamples(const ModelConfig& config) {
  const FrameInput& frames = *config.frames;
  if (frames.padded_seconds > 0) return frames.padded_samples();
  const StackConfig& encoder = *config.encoder;
  if (encoder.positions != PositionKind::kLearned) return std::numeric_limits<int64_t>::max();
  int64_t most = encoder.max_positions - encoder.position_offset;
  for (const int64_t stride : frames.strides) most *= stride;
  return (most + 1) * frames.hop - 1;  // FramesOf leaves out what is no whole hop
}

double MostSeconds(const FrameInput& frames, const TranscriptionOptions& options) {
  constexpr double kUsual = 30;
  if (options.max_seconds > 0) return options.max_seconds;
  return frames.longest_seconds > 0 ? frames.longest_seconds : kUsual;
}

Hypothesis Joined(std::span<const TranscriptSegment> segments, size_t rank) {
  Hypothesis joined;
  for (const TranscriptSegment& segment : segments) {
    const Hypothesis& each = segment.hypotheses[std::min(rank, segment.hypotheses.size() - 1)];
    if (!joined.text.empty() && !each.text.empty()) joined.text += ' ';
    joined.text += each.text;
    joined.ids.insert(joined.ids.end(), each.ids.begin(), each.ids.end());
    joined.score += each.score;
    joined.log_probability += each.log_probability;
    joined.finished = joined.finished && each.finished;
  }
  return joined;
}

}  // namespace

std::vector<SoundSegment> CutRecording(std::span<const float> samples, const ModelConfig& config,
                                       const TranscriptionOptions& options) {
  if (std::ranges::all_of(samples, [](float sample) { return sample == 0; })) return {};
  const int64_t count = std::ssize(samples), rate = config.frames->rate, most = MostSamples(config);
  const double seconds = static_cast<double>(count) / static_cast<double>(rate);
  const double longest = MostSeconds(*config.frames, options);
  if (count <= most && seconds <= longest) return {{0, count}};
  const double readable = static_cast<double>(most) / static_cast<double>(rate);
  return CutAtSilence(samples, rate,
                      {.max_seconds = std::min(longest, readable),
                       .min_silence = options.min_silence,
                       .threshold = options.silence_threshold,
                       .margin = options.silence_margin});
}

double SecondsInMemory(const FrameInput& frames, double seconds) {
  return std::max(frames.padded_seconds, seconds);
}

std::vector<Hypothesis> JoinSegments(std::span<const TranscriptSegment> segments) {
  if (segments.empty()) return {Hypothesis()};
  if (segments.size() == 1) return segments[0].hypotheses;
  size_t ranks = 0;
  for (const TranscriptSegment& segment : segments)
    ranks = std::max(ranks, segment.hypotheses.size());
  std::vector<Hypothesis> joined;
  for (size_t rank = 0; rank < ranks; ++rank) joined.push_back(Joined(segments, rank));
  return joined;
}

}  // namespace attend
