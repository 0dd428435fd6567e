// `attend generate`: prompt in, text out.
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "attend/error.h"
#include "attend/generator.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/text_commands.h"
#include "tasks/language_model/generation_options.h"
#include "tasks/loaded_model.h"
#include "text/utf8.h"

namespace attend {
namespace {

struct GenerateOptions {
  std::string model, adapter, input = "-";
  bool echo = false, scores = false;
  WeightType type = WeightType::kStored;
  GenerationOptions generation;
};

FieldList Fields(GenerateOptions& options) {
  FieldList fields;
  fields.Add("model", &options.model, "the model directory")
      .Nest("", AdapterField(&options.adapter))
      .Nest("", TypeField(&options.type))
      .Add("input", &options.input,
           "prompts, one a line, where none are arguments; -: standard input")
      .Add("echo", &options.echo, "write the prompt before its continuation")
      .Add("scores", &options.scores, "write `text ||| log-probability`")
      .Nest("", Fields(options.generation));
  return fields;
}

Json ToJson(const std::string& prompt, const std::vector<Generation>& outputs) {
  Json all = Json::array();
  for (const Generation& output : outputs) {
    all.push_back({{"text", output.text},
                   {"ids", output.ids},
                   {"ending", NameOf(output.ending)},
                   {"log_probability", output.log_probability},
                   {"token_log_probabilities", output.token_log_probabilities}});
  }
  return {{"prompt", prompt}, {"outputs", all}};
}

// Ends of lines within a text as `\n`.
std::string OnOneLine(std::string text) {
  Replace("\n", "\\n", &text);
  return text;
}

// One call of the command.
struct GenerateCall {
  const GenerateOptions& options;
  const Generator& generator;
  bool json = false, watched = false;  // watched: somebody sees each text as it comes
  bool alone = false;  // one text is all that is written, and may have several lines

  bool plain() const { return !json && !options.scores && options.generation.n == 1; }
  std::string Written(const std::string& text) const {
    return alone && plain() ? text : OnOneLine(text);
  }

  void Stream(const std::string& prompt) const {
    if (options.echo) std::cout << Written(prompt) << std::flush;
    generator.Generate({&prompt, 1}, options.generation, [&](const GeneratedPiece& piece) {
      std::cout << Written(piece.text) << std::flush;
    });
    std::cout << '\n';
  }

  void Print(const std::string& prompt, int64_t number,
             const std::vector<Generation>& outputs) const {
    if (json) {
      std::cout << Printable(Dump(ToJson(prompt, outputs))) << '\n';
      return;
    }
    for (const Generation& output : outputs) {
      if (outputs.size() > 1) std::cout << number << " ||| ";
      if (options.echo) std::cout << Written(prompt);
      std::cout << Written(output.text);
      if (options.scores || outputs.size() > 1) {
        std::cout << fmt::format(" ||| {:.6f}", output.log_probability);
      }
      std::cout << '\n';
    }
  }

  void Run(std::span<const std::string> prompts, int64_t first_number) const {
    if (plain() && options.generation.beam_size == 1 && watched) {
      for (const std::string& prompt : prompts) Stream(prompt);
    } else {
      const auto all = generator.Generate(prompts, options.generation);
      for (size_t i = 0; i < prompts.size(); ++i) {
        Print(prompts[i], first_number + static_cast<int64_t>(i), all[i]);
      }
    }
    FlushOutput();
  }
};

// What is given and would change nothing.
void CheckUsed(const GenerationOptions& options, const CommandLine& command_line) {
  const bool beam = options.beam_size > 1;
  if (beam && command_line.IsSet("seed")) {
    throw Error(ErrorKind::kUsage,
                "seed is not for beam search; leave it out or set beam_size to 1");
  }
  if (!beam && command_line.IsSet("length_penalty")) {
    throw Error(ErrorKind::kUsage,
                "length_penalty is of beam search; leave it out or raise beam_size");
  }
}

}  // namespace

int RunGenerate(const std::vector<std::string>& arguments) {
  CommonOptions common;
  GenerateOptions options;
  std::vector<std::string> prompts;
  CommandLine command_line(
      "generate", "write on from prompts with a language model",
      "attend generate \"Once upon a time\" --model MODEL\n"
      "attend generate \"The king\" --model MODEL --temperature 0.8 --top-k 40 --n 3 --seed 7\n"
      "attend generate --model MODEL --input prompts.txt --max-tokens 50 --json");
  command_line
      .Positional("PROMPT", &prompts, "what the text begins with; none: lines of --input",
                  /*required=*/false)
      .Options(Fields(options))
      .Options(Fields(common, {"threads", "quiet", "json", "data_dir"}))
      .Required({"model"});
  if (!command_line.Parse(arguments)) return 0;
  if (!prompts.empty() && command_line.IsSet("input")) {
    throw Error(ErrorKind::kUsage,
                "attend generate: prompts are given as arguments and by --input; leave out one");
  }
  CheckGenerationOptions(options.generation);
  CheckUsed(options.generation, command_line);
  const auto loaded = Load(
      options.model, {.type = options.type, .instruction_set = {}, .adapter = options.adapter});
  const Generator generator(loaded, common.ThreadCount());
  // One prompt alone is not the faster for waiting, whoever reads.
  const bool alone = prompts.size() == 1;
  const bool watched = isatty(STDOUT_FILENO) == 1 || alone;
  const GenerateCall call{options, generator, common.json, watched, alone};
  if (!prompts.empty()) {
    WarnOfFiles(prompts, common.MakeLog());
    call.Run(prompts, 1);
    WarnOfUnknownIn(prompts, loaded->target_vocabulary, common.MakeLog());
    return 0;
  }
  RunOnLines({options.input}, common, loaded->target_vocabulary, [&](const LineWindows& lines) {
    call.Run(lines.lines(), lines.number());
    return 0;  // a prompt that is too long is an error
  });
  return 0;
}

}  // namespace attend
