// `attend embed`: a vector for each text, picture or recording.
#include <algorithm>
#include <iostream>
#include <limits>
#include <memory>

#include "attend/error.h"
#include "attend/text_encoder.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/npy_file.h"
#include "cli/picture_commands.h"
#include "cli/sound_commands.h"
#include "cli/text_commands.h"
#include "tasks/loaded_model.h"
#include "tasks/masked_language_model/text_encoder_options.h"

namespace attend {
namespace {

struct EmbedCommandOptions {
  std::string model, adapter, output;
  EmbeddingOptions embedding;
  WeightType type = WeightType::kStored;
};

FieldList Fields(EmbedCommandOptions& options) {
  FieldList fields;
  fields
      .Add("model", &options.model, "the model directory, of an encoder alone or of transcription")
      .Nest("", AdapterField(&options.adapter))
      .Nest("", TypeField(&options.type))
      .Nest("", Fields(options.embedding))
      .Add("output", &options.output,
           "write a NumPy file [texts, width] in place of JSON lines on standard output; a "
           "picture or recording that can't be read has a row of NaN");
  return fields;
}

void PrintVector(const std::string& text, const TextVector& vector) {
  std::cout << Printable(Dump(Json{{"text", text},
                                   {"embedding", FloatsToJson(vector.values_D)},
                                   {"cut", vector.cut}}))
            << '\n';
}

// One that can't be read has a row of NaN, and in JSON an error.
void EmbedPictures(const TextEncoder& encoder, const LoadedModel& loaded,
                   const std::vector<std::string>& files, const EmbeddingOptions& options,
                   const CommonOptions& common, NpyFile* output) {
  const std::vector<float> none(encoder.width(), std::numeric_limits<float>::quiet_NaN());
  RunOnPictures(files, *loaded.config().patches, common, [&](const PictureWindow& window) {
    const std::vector<TextVector> found = encoder.EmbedPixels(window.pixels, options);
    size_t next = 0;
    for (size_t i = 0; i < window.paths.size(); ++i) {
      const std::string& error = window.errors[i];
      const std::vector<float>& values = error.empty() ? found[next++].values_D : none;
      if (output != nullptr) {
        output->Add(values);
        continue;
      }
      Json line = {{"picture", window.paths[i]}};
      if (error.empty()) {
        line["embedding"] = FloatsToJson(values);
      } else {
        line["error"] = error;
      }
      std::cout << Printable(Dump(line)) << '\n';
    }
  });
}

}  // namespace

int RunEmbed(const std::vector<std::string>& arguments) {
  CommonOptions common;
  EmbedCommandOptions options;
  std::vector<std::string> files;
  CommandLine command_line("embed", "give each text, picture or recording a vector",
                           "attend embed --model MODEL texts.txt > vectors.jsonl\n"
                           "attend embed --model MODEL texts.txt --normalize --output vectors.npy\n"
                           "attend embed --model MODEL photo.jpg drawing.png\n"
                           "attend embed --model TRANSCRIBER call.wav answer.flac");
  command_line
      .Positional(
          "FILE", &files,
          "text, a line an item; none: standard input. Of a model of pictures: PNG or JPEG, "
          "of sound: WAV, FLAC and others; none: standard input has a path on each line",
          /*required=*/false)
      .Options(Fields(options))
      .Options(Fields(common, {"threads", "quiet", "json", "data_dir"}))
      .Required({"model"});
  if (!command_line.Parse(arguments)) return 0;
  if (common.json && !options.output.empty())
    throw Error(ErrorKind::kUsage, "attend embed: --json and --output are given; leave out one");
  const auto loaded = Load(
      options.model, {.type = options.type, .instruction_set = {}, .adapter = options.adapter});
  if (loaded->config().frames) {
    EmbedRecordings(loaded, files, options.embedding, common, options.output);
    return 0;
  }
  const TextEncoder encoder(loaded, common.ThreadCount());
  std::unique_ptr<NpyFile> output;
  if (!options.output.empty()) output = std::make_unique<NpyFile>(options.output, encoder.width());
  if (encoder.reads_pictures()) {
    EmbedPictures(encoder, *loaded, files, options.embedding, common, output.get());
    if (output != nullptr) output->Commit();
    return 0;
  }
  RunOnLines(files, common, loaded->source_vocabulary, [&](const LineWindows& lines) {
    const std::vector<TextVector> found = encoder.Embed(lines.lines(), options.embedding);
    for (size_t i = 0; i < found.size(); ++i) {
      if (output != nullptr) {
        output->Add(found[i].values_D);
      } else {
        PrintVector(lines.lines()[i], found[i]);
      }
    }
    return std::ranges::count_if(found, &TextVector::cut);
  });
  if (output != nullptr) output->Commit();
  return 0;
}

}  // namespace attend
