// `attend embed`: a vector for each text.
#include <algorithm>
#include <iostream>
#include <memory>

#include "attend/error.h"
#include "attend/text_encoder.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/npy_file.h"
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
  fields.Add("model", &options.model, "the model directory, of an encoder alone")
      .Nest("", AdapterField(&options.adapter))
      .Nest("", TypeField(&options.type))
      .Nest("", Fields(options.embedding))
      .Add("output", &options.output,
           "write a NumPy file [texts, width] in place of JSON lines on standard output");
  return fields;
}

void PrintVector(const std::string& text, const TextVector& vector) {
  std::cout << Printable(Dump(Json{{"text", text},
                                   {"embedding", FloatsToJson(vector.values_D)},
                                   {"cut", vector.cut}}))
            << '\n';
}

}  // namespace

int RunEmbed(const std::vector<std::string>& arguments) {
  CommonOptions common;
  EmbedCommandOptions options;
  std::vector<std::string> files;
  CommandLine command_line("embed", "give each text a vector",
                           "attend embed --model MODEL texts.txt > vectors.jsonl\n"
                           "attend embed --model MODEL texts.txt --normalize --output vectors.npy");
  command_line
      .Positional("FILE", &files, "text, a line an item; none: standard input",
                  /*required=*/false)
      .Options(Fields(options))
      .Options(Fields(common, {"threads", "quiet", "json", "data_dir"}))
      .Required({"model"});
  if (!command_line.Parse(arguments)) return 0;
  if (common.json && !options.output.empty())
    throw Error(ErrorKind::kUsage, "attend embed: --json and --output are given; leave out one");
  const auto loaded = Load(
      options.model, {.type = options.type, .instruction_set = {}, .adapter = options.adapter});
  const TextEncoder encoder(loaded, common.ThreadCount());
  std::unique_ptr<NpyFile> output;
  if (!options.output.empty()) output = std::make_unique<NpyFile>(options.output, encoder.width());
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
