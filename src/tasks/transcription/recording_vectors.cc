#include "tasks/transcription/recording_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "attend/error.h"
#include "engine/forward.h"
#include "tasks/checks.h"
#include "tasks/transcription/segments.h"

namespace attend {
namespace {

// Part of a recording, and the sum of its rows once they are there.
struct Part {
  size_t recording;
  std::span<const float> samples;
  int64_t rows = 0;  // of sound
  std::vector<double> sum_D = {};
};

void AddRows(const LoadedModel& loaded, const SoundFrames& frames, Activations* activations,
             Part* part) {
  const int64_t width = loaded.config().encoder->d_model;
  const std::vector<float> numbers = frames.Of(part->samples, "a segment");
  const EncoderItem item(numbers);
  Encode(loaded.weights, {&item, 1}, {}, activations);
  part->rows = frames.input().RowsOf(frames.input().FramesOf(std::ssize(part->samples)));
  part->sum_D.resize(width);
  const float* const memory_SD = activations->memory_SD.Get(0);
  for (int64_t row = 0; row < part->rows; ++row) {
    for (int64_t d = 0; d < width; ++d)
      part->sum_D[d] += static_cast<double>(memory_SD[row * width + d]);
  }
}

// The mean of what `sum_D` has of so many rows.
std::vector<float> VectorOf(const std::vector<double>& sum_D, int64_t rows, bool normalize) {
  double squares = 0;
  for (const double sum : sum_D) squares += sum * sum;
  if (!std::isfinite(squares)) {
    throw Error(ErrorKind::kRuntime,
                "the model gives numbers that are not finite; `attend verify` finds bad weights");
  }
  const double divisor =
      normalize ? std::max(std::sqrt(squares), 1e-12) : static_cast<double>(rows);
  std::vector<float> values_D;
  for (const double sum : sum_D) values_D.push_back(static_cast<float>(sum / divisor));
  return values_D;
}

}  // namespace

void EmbedHeard(const LoadedModel& loaded, const SoundFrames& frames, std::span<const Heard> heard,
                const RecordingEmbeddingOptions& options, WorkPool* pool,
                std::span<RecordingVector> vectors) {
  std::vector<Part> parts;
  for (size_t i = 0; i < heard.size(); ++i) {
    vectors[i].error = heard[i].error;
    if (!heard[i].error.empty()) continue;
    const std::span<const float> samples = heard[i].sound.samples;
    const auto cuts = CutRecording(samples, loaded.config(), {});
    if (cuts.empty()) vectors[i].error = fmt::format("'{}' is silent", heard[i].name);
    for (const auto& [begin, end] : cuts) parts.push_back({i, samples.subspan(begin, end - begin)});
  }
  std::vector<Activations> activations(pool->size());
  pool->ParallelFor(std::ssize(parts), [&](int64_t i, int worker) {
    CheckNotStopped(options.stop);
    AddRows(loaded, frames, &activations[worker], &parts[i]);
  });
  for (size_t begin = 0; begin < parts.size();) {
    Part& first = parts[begin];
    size_t end = begin + 1;
    for (; end < parts.size() && parts[end].recording == first.recording; ++end) {
      first.rows += parts[end].rows;
      for (size_t d = 0; d < first.sum_D.size(); ++d) first.sum_D[d] += parts[end].sum_D[d];
    }
    vectors[first.recording].values_D = VectorOf(first.sum_D, first.rows, options.normalize);
    begin = end;
  }
}

}  // namespace attend
