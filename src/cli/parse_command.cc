// `attend parse`: a constituency tree for each sentence.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>

#include "attend/error.h"
#include "attend/tagger.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/text_commands.h"
#include "cli/tree_view/tree_svg.h"
#include "tasks/loaded_model.h"
#include "tasks/parsing/parse_search.h"
#include "tasks/parsing/parsed_json.h"
#include "tasks/parsing/parsing_options.h"
#include "text/column_reader.h"

namespace attend {
namespace {

enum class TreeFormat { kBracket, kJson, kSvg };

struct ParseOptions {
  std::string model, adapter;
  TreeFormat output_format = TreeFormat::kBracket;
  bool plain = false;
  ParsingOptions parsing;
  WeightType type = WeightType::kStored;
};

FieldList Fields(ParseOptions& options) {
  FieldList fields;
  fields.Add("model", &options.model, "the model directory")
      .Nest("", AdapterField(&options.adapter))
      .Nest("", TypeField(&options.type))
      .Add("output_format", &options.output_format, {"bracket", "json", "svg"},
           "a tree a line in brackets, or in JSON with spans and scores; or one picture of all "
           "trees (SVG)")
      .Add("plain", &options.plain,
           "the input is plain text, a sentence a line, which is divided into words first; without "
           "it blanks divide words")
      .Nest("", Fields(options.parsing));
  return fields;
}

std::vector<ParsedText> ParseLines(const Parser& parser, std::span<const std::string> lines,
                                   const ParseOptions& options) {
  if (options.plain) return parser.Parse(lines, options.parsing);
  std::vector<std::vector<std::string>> sentences;
  for (const std::string& line : lines) {
    std::string blanks = line;
    for (char& c : blanks) c = c == '\t' ? ' ' : c;
    sentences.push_back(ColumnsOf(blanks));
  }
  return parser.ParseWords(sentences, options.parsing);
}

// A sentence that is too long ends the run, after those before it; the error says where it stands.
std::vector<ParsedText> ParseWindow(const Parser& parser, const LineWindows& lines,
                                    const ParseOptions& options,
                                    const std::function<void(const ParsedText&)>& print) {
  try {
    return ParseLines(parser, lines.lines(), options);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInput) throw;
  }
  for (size_t i = 0; i < lines.lines().size(); ++i) {
    try {
      print(ParseLines(parser, {&lines.lines()[i], 1}, options)[0]);
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("{}: {}", lines.Where(i), error.what()));
    }
  }
  return {};
}

}  // namespace

int RunParse(const std::vector<std::string>& arguments) {
  CommonOptions common;
  ParseOptions options;
  std::vector<std::string> files;
  CommandLine command_line("parse", "build constituency trees with a model of parsing",
                           "attend parse --model MODEL sentences.txt\n"
                           "echo \"The cat sits .\" | attend parse --model MODEL\n"
                           "echo \"The cat sits.\" | attend parse --model MODEL --plain "
                           "--output-format svg > tree.svg");
  command_line
      .Positional("FILE", &files,
                  "words divided by blanks, a sentence a line; none: standard input",
                  /*required=*/false)
      .Options(Fields(options))
      .Options(Fields(common, {"threads", "quiet", "json", "data_dir"}))
      .Required({"model"});
  if (!command_line.Parse(arguments)) return 0;
  if (common.json && options.output_format == TreeFormat::kSvg)
    throw Error(ErrorKind::kUsage,
                "attend parse: --json and output_format svg are given; leave out one");
  const auto loaded = Load(
      options.model, {.type = options.type, .instruction_set = {}, .adapter = options.adapter});
  const Parser parser(loaded, common.ThreadCount());
  const bool json = common.json || options.output_format == TreeFormat::kJson;
  std::vector<ParsedText> drawn;
  const auto print = [&](const ParsedText& parsed) {
    if (options.output_format == TreeFormat::kSvg) {
      drawn.push_back(parsed);
    } else {
      std::cout << Printable(json ? Dump(ParsedToJson(parsed)) : parsed.tree) << '\n';
    }
  };
  const auto run = [&](const LineWindows& lines) {
    for (const ParsedText& parsed : ParseWindow(parser, lines, options, print)) print(parsed);
    return 0;
  };
  const auto as_read = [](const std::string& line) {  // with -LRB- for (
    return fmt::format("{}", fmt::join(TreebankWords(ColumnsOf(line)), " "));
  };
  RunOnLines(files, common, loaded->source_vocabulary, run, as_read);
  if (options.output_format == TreeFormat::kSvg) std::cout << TreesToSvg(drawn);
  FlushOutput();
  return 0;
}

}  // namespace attend
