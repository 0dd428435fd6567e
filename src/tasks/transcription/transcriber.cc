#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "attend/error.h"
#include "attend/translator.h"
#include "base/per_process.h"
#include "media/sound_frames.h"
#include "tasks/checks.h"
#include "tasks/running_search.h"
#include "tasks/transcription/heard_recordings.h"
#include "tasks/transcription/recording_vectors.h"
#include "tasks/transcription/segments.h"
#include "tasks/transcription/timed_words.h"
#include "tasks/transcription/transcription_options.h"
#include "tasks/transcription/transcription_search.h"

namespace attend {
namespace {

std::shared_ptr<const LoadedModel> Checked(std::shared_ptr<const LoadedModel> loaded) {
  CheckTranscribes(*loaded);
  return loaded;
}

// What is searched by itself.
struct Segment {
  std::span<const float> samples;
  const std::string* name;
  TranscriptSegment* found;
};

Sound AtRate(const RecordingSamples& recording, int64_t rate) {
  Sound sound{recording.rate, {recording.samples.begin(), recording.samples.end()}};
  return recording.rate == rate ? std::move(sound) : Resample(sound, rate);
}

}  // namespace

struct Transcriber::Impl {
  Impl(std::shared_ptr<const LoadedModel> made, int threads)
      : loaded(Checked(std::move(made))),
        frames(*loaded->config().frames),
        running([this, threads] {
          return std::make_unique<RunningSearch>(MakeTranscriptionSearchModel(*loaded), threads);
        }) {}

  // Transcribes so many recordings. What each has in seconds, by its number, decides how many are
  // in memory together; `hear` gives one, on any thread.
  std::vector<Transcription> Transcribe(size_t count,
                                        const std::function<double(size_t recording)>& seconds,
                                        const std::function<Heard(size_t recording)>& hear,
                                        const TranscriptionOptions& options) const;
  void TranscribeGroup(std::span<const Heard> heard, const TranscriptionOptions& options,
                       std::span<Transcription> transcriptions) const;
  // These segments, which are in memory together.
  void Search(std::span<const Segment> segments, const TranscriptionOptions& options) const;

  const std::shared_ptr<const LoadedModel> loaded;
  const SoundFrames frames;
  PerProcess<RunningSearch> running;
};

std::vector<Transcription> Transcriber::Impl::Transcribe(
    size_t count, const std::function<double(size_t recording)>& seconds,
    const std::function<Heard(size_t recording)>& hear, const TranscriptionOptions& options) const {
  CheckTranscriptionOptions(options);
  if (options.word_times && loaded->make_stepper != nullptr)
    throw Error(ErrorKind::kUsage, "word times are of attend's own engine; leave out the device");
  std::vector<Transcription> transcriptions(count);
  HearAll({count, seconds, hear, options.stop}, &running.Get().threads.pool,
          [&](size_t begin, std::span<const Heard> heard) {
            TranscribeGroup(heard, options, std::span(transcriptions).subspan(begin, heard.size()));
          });
  return transcriptions;
}

void Transcriber::Impl::TranscribeGroup(std::span<const Heard> heard,
                                        const TranscriptionOptions& options,
                                        std::span<Transcription> transcriptions) const {
  std::vector<Segment> segments;
  for (size_t i = 0; i < heard.size(); ++i) {
    const Sound& sound = heard[i].sound;
    transcriptions[i].error = heard[i].error;
    if (!heard[i].error.empty()) continue;
    transcriptions[i].seconds = sound.seconds();
    const auto cuts = CutRecording(sound.samples, loaded->config(), options);
    transcriptions[i].segments.resize(cuts.size());
    for (size_t k = 0; k < cuts.size(); ++k) {
      const auto rate = static_cast<double>(sound.rate);
      TranscriptSegment& segment = transcriptions[i].segments[k];
      segment.begin = static_cast<double>(cuts[k].begin) / rate;
      segment.end = static_cast<double>(cuts[k].end) / rate;
      segments.push_back(
          {std::span(sound.samples).subspan(cuts[k].begin, cuts[k].end - cuts[k].begin),
           &heard[i].name, &segment});
    }
  }
  const auto seconds = [&](size_t k) {
    return SecondsInMemory(frames.input(), segments[k].found->end - segments[k].found->begin);
  };
  for (size_t begin = 0; begin < segments.size();) {
    const size_t end = EndOfGroup(begin, segments.size(), seconds);
    Search(std::span(segments).subspan(begin, end - begin), options);
    begin = end;
  }
  for (Transcription& each : transcriptions)
    if (each.error.empty()) each.hypotheses = JoinSegments(each.segments);
}

void Transcriber::Impl::Search(std::span<const Segment> segments,
                               const TranscriptionOptions& options) const {
  RunningSearch& run = running.Get();
  std::vector<SearchInput> inputs(segments.size());
  run.threads.pool.ParallelFor(std::ssize(segments), [&](int64_t i, int /*worker*/) {
    const std::string& name = *segments[i].name;
    inputs[i] = MakeTranscriptionInput(loaded->config(), frames.Of(segments[i].samples, name),
                                       options, name);
  });
  constexpr SearchRoom kRoom{1024, 2048};  // segments, and rows of them, together on a thread
  const CallOptions call{.room = kRoom, .stop = options.stop};
  auto found = run.calls.Run(std::move(inputs), call);
  for (size_t i = 0; i < segments.size(); ++i)
    segments[i].found->hypotheses = MakeTranscripts(*loaded, std::move(found[i]));
  if (!options.word_times) return;
  run.threads.pool.ParallelFor(std::ssize(segments), [&](int64_t i, int worker) {
    CheckNotStopped(options.stop);
    AddWords(*loaded, frames, segments[i].samples, {}, &run.threads.forced[worker],
             segments[i].found);
  });
}

std::unique_ptr<Transcriber> Transcriber::Load(const std::string& directory,
                                               const TranscriberOptions& options) {
  return std::make_unique<Transcriber>(LoadModel(directory), options);
}

Transcriber::Transcriber(std::shared_ptr<const Model> model, const TranscriberOptions& options)
    : Transcriber(LoadWith(std::move(model), options), options.threads) {}

Transcriber::Transcriber(std::shared_ptr<const LoadedModel> loaded, int threads)
    : impl_(std::make_unique<Impl>(std::move(loaded), threads)) {}

Transcriber::~Transcriber() = default;

std::vector<Transcription> Transcriber::Transcribe(std::span<const RecordingSamples> recordings,
                                                   const TranscriptionOptions& options) const {
  const auto hear = [&](size_t i) {
    const std::string name = fmt::format("recording {}", i + 1);
    if (recordings[i].samples.empty()) throw Error(ErrorKind::kInput, name + ": has no sound");
    if (!std::ranges::all_of(recordings[i].samples, IsSample)) {
      throw Error(
          ErrorKind::kInput,
          fmt::format("{}: has a number that is no sound (NaN, or above {})", name, kLoudest));
    }
    return Heard{name, AtRate(recordings[i], rate()), ""};
  };
  const auto seconds = [&](size_t i) {
    return static_cast<double>(recordings[i].samples.size()) /
           static_cast<double>(std::max<int64_t>(1, recordings[i].rate));
  };
  return impl_->Transcribe(recordings.size(), seconds, hear, options);
}

std::vector<Transcription> Transcriber::TranscribeFiles(std::span<const std::string> paths,
                                                        const TranscriptionOptions& options) const {
  const HeardRecordings files = RecordingsOfFiles(paths, rate(), options.stop);
  return impl_->Transcribe(files.count, files.seconds, files.hear, options);
}

std::vector<RecordingVector> Transcriber::EmbedFiles(
    std::span<const std::string> paths, const RecordingEmbeddingOptions& options) const {
  std::vector<RecordingVector> vectors(paths.size());
  WorkPool& pool = impl_->running.Get().threads.pool;
  HearAll(RecordingsOfFiles(paths, rate(), options.stop), &pool,
          [&](size_t begin, std::span<const Heard> heard) {
            EmbedHeard(*impl_->loaded, impl_->frames, heard, options, &pool,
                       std::span(vectors).subspan(begin, heard.size()));
          });
  return vectors;
}

int64_t Transcriber::width() const { return impl_->loaded->config().encoder->d_model; }

int64_t Transcriber::rate() const { return impl_->frames.input().rate; }

std::string Transcriber::instruction_set() const { return impl_->loaded->weights.kernels.name; }

}  // namespace attend
