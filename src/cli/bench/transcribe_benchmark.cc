// `attend bench transcribe`: how many seconds of sound a model of transcription reads in a second,
// beside what the machine could do.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attend/error.h"
#include "attend/loaded_model.h"
#include "attend/translator.h"
#include "base/random.h"
#include "cli/bench/benchmarks.h"
#include "cli/bench/model_benchmark.h"
#include "media/sound.h"
#include "tasks/transcription/transcription_options.h"

namespace attend {
namespace {

struct TranscribeBenchOptions {
  ModelBenchOptions model{.preset = "whisper-tiny", .vocab_size = 51864, .batch_size = 1};
  int64_t recordings = 4;
  double seconds = 10;
  TranscriptionOptions search = {.max_length = 32};
};

FieldList TranscribeFields(TranscribeBenchOptions& options) {
  FieldList fields = ModelFields(options.model, "whisper-tiny or speech-tiny");
  fields.Add("recordings", &options.recordings, 1, 1e6, "recordings of noise, where no FILE is")
      .Add("seconds", &options.seconds, 0.1, 3600, "how long each of them is")
      .Nest("", RepeatFields(options.model, "recordings"))
      .Nest("", Fields(options.search).Select({"beam_size", "max_length"}));
  return fields;
}

using Recordings = std::vector<std::vector<float>>;

Recordings Noise(const TranscribeBenchOptions& options, int64_t rate, int64_t seed) {
  Random random({static_cast<uint64_t>(seed)});
  Recordings recordings(options.recordings);
  for (std::vector<float>& samples : recordings) {
    samples.resize(static_cast<size_t>(options.seconds * static_cast<double>(rate)));
    for (float& sample : samples) sample = static_cast<float>(0.2 * random.Uniform() - 0.1);
  }
  return recordings;
}

Recordings ReadFiles(const std::vector<std::string>& files, int64_t rate) {
  Recordings recordings;
  for (const std::string& file : files)
    recordings.push_back(Resample(ReadSound(file), rate).samples);
  return recordings;
}

std::vector<RecordingSamples> Given(const Recordings& recordings, int64_t rate) {
  std::vector<RecordingSamples> given;
  for (const std::vector<float>& samples : recordings) given.push_back({samples, rate});
  return given;
}

double SecondsOf(const Recordings& recordings, int64_t rate) {
  size_t samples = 0;
  for (const std::vector<float>& each : recordings) samples += each.size();
  return static_cast<double>(samples) / static_cast<double>(rate);
}

// Of the best hypotheses.
size_t TokensOf(const std::vector<Transcription>& found) {
  size_t tokens = 0;
  for (const Transcription& recording : found)
    for (const TranscriptSegment& segment : recording.segments)
      tokens += segment.hypotheses.front().ids.size();
  return tokens;
}

void PrintTranscribeReport(const Json& report) {
  for (const auto& [name, key] : {std::pair{"seconds of sound a second", "sound_per_s"},
                                  {"output tokens a second", "output_tokens_per_s"}})
    std::cout << fmt::format("{:<25} {:>8.1f}\n", name, report[key].get<double>());
  PrintMeasurement(report);
}

}  // namespace

int RunBenchTranscribe(const std::vector<std::string>& arguments) {
  CommonOptions common;
  common.threads = 1;
  TranscribeBenchOptions options;
  std::vector<std::string> files;
  CommandLine command_line("bench transcribe", "measure the speed of a model of transcription",
                           "attend bench transcribe --preset whisper-tiny --type int8\n"
                           "attend bench transcribe --model MODEL speech.wav --threads 2 --json");
  command_line.Positional("FILE", &files, "recordings in place of noise", /*required=*/false)
      .Options(TranscribeFields(options))
      .Options(Fields(common, {"threads", "seed", "json"}));
  if (!command_line.Parse(arguments)) return 0;
  RefuseUnused(command_line, UnusedModelOptions(options.model));
  const std::string why = "is for noise; leave out it or FILE";
  RefuseUnused(command_line,
               {{"recordings", !files.empty(), why}, {"seconds", !files.empty(), why}});
  LoadTimer timer(options.model, common.seed);
  const auto model = timer.Read();
  const Transcriber transcriber(Load(model, {.type = options.model.weight_type()}),
                                common.ThreadCount());
  const double load_seconds = timer.Seconds();
  const Recordings recordings = files.empty() ? Noise(options, transcriber.rate(), common.seed)
                                              : ReadFiles(files, transcriber.rate());
  const std::vector<RecordingSamples> given = Given(recordings, transcriber.rate());
  const double seconds = SecondsOf(recordings, transcriber.rate());
  size_t tokens = 0;  // of all, which run at once first
  const auto run = [&](int64_t first, int64_t size) {
    size_t written = 0;
    for (int64_t end = first + size; first < end; first += options.model.batch_size) {
      const int64_t batch = std::min(options.model.batch_size, end - first);
      written +=
          TokensOf(transcriber.Transcribe(std::span(given).subspan(first, batch), options.search));
    }
    tokens = std::max(tokens, written);
  };
  BenchMeasurement measurement = Measure(options.model, std::ssize(given), run);
  measurement.load_seconds = load_seconds;
  Json report = Json::object();
  AddToReport(options.model, measurement, &report);
  report["recordings"] = given.size();
  report["sound_seconds"] = seconds;
  report["output_tokens"] = tokens;
  report["beam_size"] = options.search.beam_size;
  report["sound_per_s"] = seconds / measurement.best_seconds;
  report["output_tokens_per_s"] = static_cast<double>(tokens) / measurement.best_seconds;
  AddMachine(*model, options.model, transcriber.instruction_set(), common.ThreadCount(), &report);
  PrintReport(common, report, PrintTranscribeReport);
  return 0;
}

}  // namespace attend
