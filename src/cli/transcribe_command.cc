// `attend transcribe`: what is said in recordings.
#include <fmt/format.h>

#include <iostream>

#include "attend/translator.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/file_windows.h"
#include "tasks/loaded_model.h"
#include "tasks/transcription/transcription_json.h"
#include "tasks/transcription/transcription_options.h"

namespace attend {
namespace {

struct TranscribeOptions {
  std::string model, adapter;
  TranscriptionOptions search;
  WeightType type = WeightType::kStored;
};

FieldList Fields(TranscribeOptions& options) {
  FieldList fields;
  fields.Add("model", &options.model, "the model directory")
      .Nest("", AdapterField(&options.adapter))
      .Nest("", TypeField(&options.type))
      .Nest("", Fields(options.search));
  return fields;
}

// One line; a recording that can't be read has an empty one.
void Print(const Transcription& found) {
  std::string line;
  for (const Hypothesis& each : found.hypotheses) line += (line.empty() ? "" : "\t") + each.text;
  std::cout << Printable(line) << '\n';
}

}  // namespace

int RunTranscribe(const std::vector<std::string>& arguments) {
  CommonOptions common;
  TranscribeOptions options;
  std::vector<std::string> files;
  CommandLine command_line("transcribe",
                           "write down what is said in recordings with a model of transcription",
                           "attend transcribe --model MODEL speech.wav interview.flac\n"
                           "attend transcribe --model MODEL --json speech.wav\n"
                           "ls recordings/*.flac | attend transcribe --model MODEL");
  command_line
      .Positional("FILE", &files,
                  "WAV, FLAC and others, of any rate; a line for each. None: standard input has a "
                  "path on each line",
                  /*required=*/false)
      .Options(Fields(options))
      .Options(Fields(common, {"threads", "quiet", "json", "data_dir"}))
      .Required({"model"});
  if (!command_line.Parse(arguments)) return 0;
  const Transcriber transcriber(
      Load(options.model,
           {.type = options.type, .instruction_set = {}, .adapter = options.adapter}),
      common.ThreadCount());
  RunOnFiles(files, common, {"recording", "text"}, [&](std::span<const std::string> some) {
    std::vector<std::string> paths, errors;
    for (const std::string& path : some) paths.push_back(common.DataPath(path));
    const auto found = transcriber.TranscribeFiles(paths, options.search);
    for (size_t i = 0; i < some.size(); ++i) {
      errors.push_back(found[i].error);
      if (common.json)
        std::cout << Printable(Dump(TranscriptionToJson(some[i], found[i]))) << '\n';
      else
        Print(found[i]);
    }
    return errors;
  });
  return 0;
}

}  // namespace attend
