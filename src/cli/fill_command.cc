// `attend fill`: the tokens that fit where [MASK] stands.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "attend/error.h"
#include "attend/text_encoder.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/text_commands.h"
#include "tasks/loaded_model.h"
#include "tasks/masked_language_model/filled_json.h"
#include "tasks/masked_language_model/text_encoder_options.h"

namespace attend {
namespace {

struct FillCommandOptions {
  std::string model, adapter, input = "-";
  FillOptions fill;
  WeightType type = WeightType::kStored;
};

FieldList Fields(FillCommandOptions& options) {
  FieldList fields;
  fields.Add("model", &options.model, "the model directory")
      .Nest("", AdapterField(&options.adapter))
      .Nest("", TypeField(&options.type))
      .Add("input", &options.input,
           "texts, a line each, where none are arguments; -: standard input")
      .Nest("", Fields(options.fill));
  return fields;
}

void PrintFilled(const std::string& text, const FilledText& found, bool json) {
  if (json) {
    std::cout << Printable(Dump(FilledToJson(text, found))) << '\n';
    return;
  }
  std::cout << found.text << '\n';
  for (const std::vector<FillingToken>& tokens : found.masks) {
    std::string line;
    for (const FillingToken& token : tokens)
      line += fmt::format("  {}{} {:.1f} %", token.begins_word ? "" : "…", token.text,
                          100 * token.probability);
    std::cout << line << '\n';
  }
}

// One call of the command.
struct FillCall {
  const TextEncoder& encoder;
  int64_t top;
  bool json;

  // Returns how many texts are longer than the model can read.
  int64_t Run(std::span<const std::string> texts) const {
    const std::vector<FilledText> found = encoder.Fill(texts, top);
    for (size_t i = 0; i < found.size(); ++i) PrintFilled(texts[i], found[i], json);
    return std::ranges::count_if(found, &FilledText::cut);
  }

  // A text without [MASK] ends the run, after those before it; the error says where it stands.
  int64_t RunLines(const LineWindows& lines) const {
    const std::span<const std::string> texts = lines.lines();
    try {
      return Run(texts);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kInput) throw;
    }
    int64_t cut = 0;
    for (size_t i = 0; i < texts.size(); ++i) {
      try {
        cut += Run(texts.subspan(i, 1));
      } catch (const Error& error) {
        throw Error(error.kind(), fmt::format("{}: {}", lines.Where(i), error.what()));
      }
    }
    return cut;
  }
};

// The name of a file may stand where a text is expected.
int64_t RunArguments(const FillCall& call, const std::vector<std::string>& texts) {
  const auto is_file = [](const std::string& text) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(text, ignored);
  };
  try {
    return call.Run(texts);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInput || std::ranges::none_of(texts, is_file)) throw;
    throw Error(error.kind(), fmt::format("{}; --input reads a file", error.what()));
  }
}

}  // namespace

int RunFill(const std::vector<std::string>& arguments) {
  CommonOptions common;
  FillCommandOptions options;
  CommandLine command_line("fill", "tell what fits where [MASK] stands, by a masked language model",
                           "attend fill \"The [MASK] sleeps.\" --model MODEL\n"
                           "attend fill --input texts.txt --model MODEL --top 10 --json");
  std::vector<std::string> texts;
  command_line
      .Positional("TEXT", &texts, "a text with [MASK]; none: lines of --input", /*required=*/false)
      .Options(Fields(options))
      .Options(Fields(common, {"threads", "quiet", "json", "data_dir"}))
      .Required({"model"});
  if (!command_line.Parse(arguments)) return 0;
  if (!texts.empty() && command_line.IsSet("input")) {
    throw Error(ErrorKind::kUsage,
                "attend fill: texts are given as arguments and by --input; leave out one");
  }
  const auto loaded = Load(
      options.model, {.type = options.type, .instruction_set = {}, .adapter = options.adapter});
  const TextEncoder encoder(loaded, common.ThreadCount());
  encoder.Fill({}, options.fill.top);  // is it a model that can?
  const FillCall call{encoder, options.fill.top, common.json};
  if (texts.empty()) {
    RunOnLines({options.input}, common, loaded->source_vocabulary,
               [&](const LineWindows& lines) { return call.RunLines(lines); });
  } else {
    const int64_t cut = RunArguments(call, texts);
    FlushOutput();
    WarnOfCutTexts(cut, common.MakeLog());
    WarnOfUnknownIn(texts, loaded->source_vocabulary, common.MakeLog());
  }
  return 0;
}

}  // namespace attend
