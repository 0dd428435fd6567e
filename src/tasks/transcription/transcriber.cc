#include <fmt/format.h>

#include <functional>
#include <utility>

#include "attend/error.h"
#include "attend/translator.h"
#include "base/per_process.h"
#include "media/sound_frames.h"
#include "tasks/running_search.h"
#include "tasks/transcription/transcription_options.h"
#include "tasks/transcription/transcription_search.h"

namespace attend {
namespace {

std::shared_ptr<const LoadedModel> Checked(std::shared_ptr<const LoadedModel> loaded) {
  CheckTranscribes(*loaded);
  return loaded;
}

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

  // What the model reads of a recording, or why it can't.
  struct Heard {
    SearchInput input;
    double seconds = 0;
    std::string error;
  };
  Heard Hear(const Sound& sound, const std::string& name,
             const TranscriptionOptions& options) const;
  // Of so many recordings, which `hear` gives by their number, on any thread.
  std::vector<Transcription> Transcribe(size_t count,
                                        const std::function<Heard(size_t recording)>& hear,
                                        const TranscriptionOptions& options) const;

  const std::shared_ptr<const LoadedModel> loaded;
  const SoundFrames frames;
  PerProcess<RunningSearch> running;
};

Transcriber::Impl::Heard Transcriber::Impl::Hear(const Sound& sound, const std::string& name,
                                                 const TranscriptionOptions& options) const {
  return {MakeTranscriptionInput(loaded->config(), frames.Of(sound.samples, name), options, name),
          sound.seconds(), ""};
}

std::vector<Transcription> Transcriber::Impl::Transcribe(
    size_t count, const std::function<Heard(size_t recording)>& hear,
    const TranscriptionOptions& options) const {
  CheckTranscriptionOptions(options);
  std::vector<Heard> heard(count);
  RunningSearch& run = running.Get();
  run.threads.pool.ParallelFor(static_cast<int64_t>(count),
                               [&](int64_t i, int /*worker*/) { heard[i] = hear(i); });
  std::vector<Transcription> transcriptions(count);
  std::vector<SearchInput> inputs;
  std::vector<size_t> searched;
  for (size_t i = 0; i < count; ++i) {
    transcriptions[i].seconds = heard[i].seconds;
    transcriptions[i].error = heard[i].error;
    if (!heard[i].error.empty()) continue;
    inputs.push_back(std::move(heard[i].input));
    searched.push_back(i);
  }
  constexpr SearchRoom kRoom{1024, 2048};  // recordings, and rows of them, together on a thread
  const CallOptions call{.room = kRoom, .stop = options.stop};
  auto found = run.calls.Run(std::move(inputs), call);
  for (size_t k = 0; k < searched.size(); ++k) {
    transcriptions[searched[k]].hypotheses = MakeTranscripts(loaded->target(), std::move(found[k]));
  }
  return transcriptions;
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
    return impl_->Hear(AtRate(recordings[i], rate()), fmt::format("recording {}", i + 1), options);
  };
  return impl_->Transcribe(recordings.size(), hear, options);
}

std::vector<Transcription> Transcriber::TranscribeFiles(std::span<const std::string> paths,
                                                        const TranscriptionOptions& options) const {
  const auto hear = [&](size_t i) {
    try {
      return impl_->Hear(Resample(ReadSound(paths[i]), rate()), paths[i], options);
    } catch (const Error& error) {
      return Impl::Heard{{}, 0, error.what()};
    }
  };
  return impl_->Transcribe(paths.size(), hear, options);
}

int64_t Transcriber::rate() const { return impl_->frames.input().rate; }

std::string Transcriber::instruction_set() const { return impl_->loaded->weights.kernels.name; }

}  // namespace attend
