// `attend embed`: a vector for each text, picture, recording or item.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "attend/classifier.h"
#include "attend/error.h"
#include "attend/text_encoder.h"
#include "base/json.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/item_command.h"
#include "cli/picture_commands.h"
#include "cli/sound_commands.h"
#include "cli/text_commands.h"
#include "cli/vector_output.h"
#include "tasks/loaded_model.h"
#include "tasks/masked_language_model/text_encoder_options.h"

namespace attend {
namespace {

struct EmbedCommandOptions {
  std::string model, adapter, of, output;
  EmbeddingOptions embedding;
  WeightType type = WeightType::kStored;
};

FieldList Fields(EmbedCommandOptions& options) {
  FieldList fields;
  fields
      .Add("model", &options.model,
           "the model directory, of an encoder alone, of transcription or of fusion")
      .Nest("", AdapterField(&options.adapter))
      .Nest("", TypeField(&options.type))
      .Nest("", Fields(options.embedding))
      .Add("of", &options.of,
           "with a model of fusion: the vectors are of the items' text or picture; both are of "
           "length 1 and share one space")
      .Add("output", &options.output,
           "write a NumPy file [texts, width] in place of JSON lines on standard output; a "
           "picture, recording or item that can't be read has a row of NaN");
  return fields;
}

void EmbedPictures(const TextEncoder& encoder, const LoadedModel& loaded,
                   const std::vector<std::string>& files, const EmbeddingOptions& options,
                   const CommonOptions& common, VectorOutput* output) {
  RunOnPictures(files, "vector", *loaded.config().patches, {}, common,
                [&](const PictureWindow& window) {
                  const std::vector<TextVector> found = encoder.EmbedPixels(window.pixels, options);
                  size_t next = 0;
                  for (size_t i = 0; i < window.names.size(); ++i) {
                    const std::string& error = window.errors[i];
                    const Json line = {{"picture", window.names[i]}};
                    error.empty() ? output->Add(line, found[next++].values_D)
                                  : output->AddUnreadable(line, error);
                  }
                });
}

void EmbedTexts(const TextEncoder& encoder, const LoadedModel& loaded,
                const std::vector<std::string>& files, const EmbeddingOptions& options,
                const CommonOptions& common, VectorOutput* output) {
  RunOnLines(files, common, loaded.source_vocabulary, [&](const LineWindows& lines) {
    const std::vector<TextVector> found = encoder.Embed(lines.lines(), options);
    for (size_t i = 0; i < found.size(); ++i)
      output->Add({{"text", lines.lines()[i]}, {"cut", found[i].cut}}, found[i].values_D);
    return std::ranges::count_if(found, &TextVector::cut);
  });
}

// Of the items' texts or pictures, with a model of fusion.
void EmbedItemFiles(const std::vector<std::string>& files,
                    const std::shared_ptr<const LoadedModel>& loaded,
                    const EmbedCommandOptions& options, const CommonOptions& common) {
  if (options.embedding.pooling != EmbeddingOptions().pooling) {
    throw Error(ErrorKind::kUsage,
                "--pooling is given, but a model of fusion has vectors of its own; leave it out");
  }
  const ItemClassifier classifier(loaded, common.ThreadCount());
  VectorOutput output(options.output, std::max<int64_t>(classifier.shared_width(), 1));
  EmbedItems(files, {classifier, loaded->config().fusion->patches, common}, options.of, &output);
  output.Commit();
}

}  // namespace

int RunEmbed(const std::vector<std::string>& arguments) {
  CommonOptions common;
  EmbedCommandOptions options;
  std::vector<std::string> files;
  CommandLine command_line("embed", "give each text, picture, recording or item a vector",
                           "attend embed --model MODEL texts.txt > vectors.jsonl\n"
                           "attend embed --model MODEL texts.txt --normalize --output vectors.npy\n"
                           "attend embed --model MODEL photo.jpg drawing.png\n"
                           "attend embed --model TRANSCRIBER call.wav answer.flac\n"
                           "attend embed --model MODEL items.jsonl --of picture");
  command_line
      .Positional("FILE", &files,
                  "text, a line an item; none: standard input. Of a model of pictures: PNG or "
                  "JPEG, or sets "
                  "of pictures as for training; of sound: WAV, FLAC and others; none: standard "
                  "input has a path on each line. Of a model "
                  "of fusion: JSON lines of id, text, picture (a path) and links",
                  /*required=*/false)
      .Options(Fields(options))
      .Options(Fields(common, {"threads", "quiet", "json", "data_dir"}))
      .Required({"model"});
  if (!command_line.Parse(arguments)) return 0;
  if (common.json && !options.output.empty())
    throw Error(ErrorKind::kUsage, "attend embed: --json and --output are given; leave out one");
  const auto loaded = Load(
      options.model, {.type = options.type, .instruction_set = {}, .adapter = options.adapter});
  if (loaded->config().fusion) {
    EmbedItemFiles(files, loaded, options, common);
    return 0;
  }
  if (!options.of.empty()) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("--of is for a model of fusion, and the model's task is {}; leave it out",
                    loaded->config().task));
  }
  if (loaded->config().frames) {
    EmbedRecordings(loaded, files, options.embedding, common, options.output);
    return 0;
  }
  const TextEncoder encoder(loaded, common.ThreadCount());
  VectorOutput output(options.output, encoder.width());
  encoder.reads_pictures()
      ? EmbedPictures(encoder, *loaded, files, options.embedding, common, &output)
      : EmbedTexts(encoder, *loaded, files, options.embedding, common, &output);
  output.Commit();
  return 0;
}

}  // namespace attend
