// `attend extend`: new tokens for a model, to be trained.
#include <fmt/format.h>

#include <iostream>

#include "base/files.h"
#include "base/json.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "tasks/extend_directory.h"
#include "text/lines.h"

namespace attend {
namespace {

struct ExtendOptions {
  std::vector<std::string> token;
  std::string tokens, output;
};

FieldList Fields(ExtendOptions& options) {
  FieldList fields;
  fields
      .Add("token", &options.token,
           "new tokens, texts without spaces; each is one token wherever a text has it")
      .Add("tokens", &options.tokens, "a file with more of them, a line each")
      .Add("output", &options.output, "model directory to write");
  return fields;
}

void Extend(const std::string& from, const ExtendOptions& options, const CommonOptions& common) {
  std::vector<std::string> tokens = options.token;
  if (!options.tokens.empty())
    for (std::string& line : ReadLines(options.tokens, FormatCheck::kText))
      tokens.push_back(std::move(line));
  const int64_t first = ExtendDirectory(from, tokens, options.output);
  const Json report = {{"model", options.output}, {"tokens", tokens}, {"first_id", first}};
  PrintReport(common, report, [&](const Json&) {
    if (common.quiet) return;
    std::cout << fmt::format(
        "wrote {}: {} new token{} from the id {} on; `attend train --init {}` "
        "learns what they mean\n",
        options.output, tokens.size(), tokens.size() == 1 ? "" : "s", first, options.output);
  });
}

}  // namespace

int RunExtend(const std::vector<std::string>& arguments) {
  CommonOptions common;
  ExtendOptions options;
  std::string model;
  CommandLine command_line(
      "extend",
      "add tokens to a model's vocabulary, such as a language or a new word; they begin as the "
      "mean "
      "of the tokens that stood for their text, and all others stay as they are",
      "attend extend model --token '>>de<<' --output model-de\n"
      "attend extend model --tokens new-words.txt --output model-more\n"
      "attend train --config more-text.toml --init model-more --output runs/more");
  command_line.Positional("MODEL", &model, "model directory")
      .Options(Fields(options))
      .Options(Fields(common, {"quiet", "json"}))
      .Required({"output"});
  if (!command_line.Parse(arguments)) return 0;
  Extend(model, options, common);
  return 0;
}

}  // namespace attend
