// `attend transcribe`: what is said in recordings.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "attend/error.h"
#include "attend/translator.h"
#include "base/counted.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/file_windows.h"
#include "cli/labelled_answers.h"
#include "data/recordings.h"
#include "tasks/loaded_model.h"
#include "tasks/transcription/subtitles.h"
#include "tasks/transcription/transcription_json.h"
#include "tasks/transcription/transcription_options.h"

namespace attend {
namespace {

enum class Format { kText, kJson, kSrt, kVtt };

struct TranscribeOptions {
  std::string model, adapter;
  TranscriptionOptions search;
  WeightType type = WeightType::kStored;
  Format format = Format::kText;
};

FieldList Fields(TranscribeOptions& options) {
  FieldList fields;
  fields.Add("model", &options.model, "the model directory")
      .Nest("", AdapterField(&options.adapter))
      .Nest("", TypeField(&options.type))
      .Nest("", Fields(options.search))
      .Add("format", &options.format, {"text", "json", "srt", "vtt"},
           "what is written: a line for each recording, a line of JSON, or the subtitles of one");
  return fields;
}

// Throws Error(kUsage) for what does not go together.
void Check(const TranscribeOptions& options, const CommonOptions& common, size_t files) {
  const bool subtitles = options.format == Format::kSrt || options.format == Format::kVtt;
  if (common.json && subtitles)
    throw Error(ErrorKind::kUsage, "--json and --format name two formats; leave out one");
  if (subtitles && files != 1) {
    throw Error(ErrorKind::kUsage, fmt::format("subtitles are of one recording; give one FILE, not "
                                               "{}, or take --format json",
                                               files));
  }
  if (options.search.word_times && options.format == Format::kText && !common.json) {
    throw Error(ErrorKind::kUsage, "--word-times are in JSON; add --format json");
  }
}

// One line; a recording that can't be read has an empty one.
std::string Lines(const Transcription& found) {
  std::vector<std::string> texts;
  for (const Hypothesis& each : found.hypotheses) texts.push_back(Printable(each.text));
  return fmt::format("{}\n", fmt::join(texts, "\t"));
}

std::string Formatted(Format format, const std::string& path, const Transcription& found) {
  switch (format) {
    case Format::kJson:
      return Printable(Dump(TranscriptionToJson(path, found))) + '\n';
    case Format::kSrt:
      return ToSrt(SubtitlesOf(found.segments));
    case Format::kVtt:
      return ToVtt(SubtitlesOf(found.segments));
    case Format::kText:
      break;
  }
  return Lines(found);
}

// Where long recordings were cut.
class Cuts {
 public:
  void Count(const std::vector<TranscriptSegment>& segments) {
    constexpr double kNoGap = 1e-3;  // seconds
    for (size_t i = 1; i < segments.size(); ++i) {
      ++all_;
      if (segments[i].begin - segments[i - 1].end < kNoGap) ++in_sound_;
    }
  }
  // Warns where most of them are in sound, as in noise that is louder than what counts as silence.
  void Tell(double threshold, const Log& log) const {
    if (2 * in_sound_ <= all_) return;
    log(LogLevel::kWarning,
        fmt::format(
            "of {} in long recordings {} {} not at silence, of which they have little: more "
            "than {:g} dB below their loudest parts; if words are wrong, try a "
            "--silence-threshold nearer to 0",
            Counted(all_, "cut"), in_sound_, in_sound_ == 1 ? "is" : "are", -threshold));
  }

 private:
  int64_t all_ = 0, in_sound_ = 0;
};

// Where the files are tables of recordings, puts those in their place and returns their texts.
std::vector<std::string> ReadTables(const CommonOptions& common, std::vector<std::string>* files) {
  const auto is_table = [](const std::string& path) { return path.ends_with(".tsv"); };
  if (std::ranges::none_of(*files, is_table)) return {};
  if (!std::ranges::all_of(*files, is_table))
    throw Error(ErrorKind::kUsage, "tables (.tsv) and recordings are given; leave out one kind");
  std::vector<std::string> tables, texts;
  for (const std::string& path : *files) tables.push_back(common.DataPath(path));
  files->clear();
  for (RecordingItem& item : ReadRecordings(tables)) {
    files->push_back(std::filesystem::absolute(item.path).string());
    texts.push_back(std::move(item.text));
  }
  return texts;
}

}  // namespace

int RunTranscribe(const std::vector<std::string>& arguments) {
  CommonOptions common;
  TranscribeOptions options;
  std::vector<std::string> files;
  CommandLine command_line("transcribe",
                           "write down what is said in recordings with a model of transcription",
                           "attend transcribe --model MODEL speech.wav interview.flac\n"
                           "attend transcribe --model MODEL --json --word-times speech.wav\n"
                           "attend transcribe --model MODEL --format srt film.flac > film.srt\n"
                           "attend transcribe --model MODEL test.tsv > test.txt\n"
                           "ls recordings/*.flac | attend transcribe --model MODEL");
  command_line
      .Positional("FILE", &files,
                  "WAV, FLAC and others, of any rate; a line for each. Or tables (.tsv) of lines "
                  "path<TAB>text, whose word error rate ends the log. None: standard input has a "
                  "path on each line",
                  /*required=*/false)
      .Options(Fields(options))
      .Options(Fields(common, {"threads", "quiet", "json", "data_dir"}))
      .Required({"model"});
  if (!command_line.Parse(arguments)) return 0;
  Check(options, common, files.size());
  const Format format = common.json ? Format::kJson : options.format;
  const bool subtitles = format == Format::kSrt || format == Format::kVtt;
  if (subtitles) options.search.word_times = true;  // long ones are divided between words
  const auto loaded = Load(
      options.model, {.type = options.type, .instruction_set = {}, .adapter = options.adapter});
  const Transcriber transcriber(loaded, common.ThreadCount());
  loaded->target();  // throws where there is no vocabulary
  const std::vector<std::string> texts = ReadTables(common, &files);
  LabelledAnswers answers;
  Cuts cuts;
  size_t next = 0;
  RunOnFiles(files, common, {"recording", "text"}, [&](std::span<const std::string> some) {
    std::vector<std::string> paths, errors;
    for (const std::string& path : some) paths.push_back(common.DataPath(path));
    const auto found = transcriber.TranscribeFiles(paths, options.search);
    for (size_t i = 0; i < some.size(); ++i, ++next) {
      errors.push_back(found[i].error);
      cuts.Count(found[i].segments);
      if (found[i].error.empty() && !texts.empty())
        answers.Add(found[i].hypotheses.front().text, texts[next]);
      if (found[i].error.empty() || !subtitles) std::cout << Formatted(format, some[i], found[i]);
    }
    return errors;
  });
  cuts.Tell(options.search.silence_threshold, common.MakeLog());
  TellErrorRates(answers, "recording", common.MakeLog());
  return 0;
}

}  // namespace attend
