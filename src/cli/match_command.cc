// `attend match`: what a translation memory has for a text.
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <memory>

#include "attend/error.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/line_windows.h"
#include "cli/memory_options.h"
#include "cli/text_commands.h"
#include "memory/match_json.h"
#include "memory/memory_file.h"
#include "tasks/translation/matched_text.h"

namespace attend {
namespace {

struct MatchCommandOptions {
  MemoryOptions memory;
  MatchOptions match;
  std::string input = "-";
  bool join = false;
};

FieldList Fields(MatchCommandOptions& options) {
  FieldList fields;
  fields.Nest("", Fields(options.memory))
      .Add("input", &options.input,
           "texts, a line each, where none are arguments; -: standard input")
      .Nest("", Fields(options.match))
      .Add("memory_exact", &options.match.exact,
           "tell exact matches, too; false: leave them out, as for a text that is in the memory "
           "itself")
      .Add(
          "join", &options.join,
          "write each text with the target of its best match behind it, TEXT <memory> TARGET, as a "
          "model learns to read matches; a text without a match as it is");
  return fields;
}

void PrintMatches(const std::string& text, const std::vector<MemoryMatch>& matches,
                  const MatchCommandOptions& options, bool json) {
  if (options.join) {
    std::cout << (matches.empty() ? text : WithMatch(text, matches[0].target)) << '\n';
    return;
  }
  if (json) {
    std::cout << Printable(Dump({{"text", text}, {"matches", MatchesToJson(matches)}})) << '\n';
    return;
  }
  std::cout << text << '\n';
  for (const MemoryMatch& match : matches)
    std::cout << fmt::format("  {:.1f} %\t{}\t{}\n", match.score, match.source, match.target);
}

}  // namespace

int RunMatch(const std::vector<std::string>& arguments) {
  CommonOptions common;
  MatchCommandOptions options;
  CommandLine command_line("match", "find a text, or one like it, in a translation memory",
                           "attend match \"A small house.\" --memory units.tsv\n"
                           "attend match --input texts.en --memory office.tmx --memory-source en "
                           "--memory-target de --memory-threshold 60 --json\n"
                           "attend match --input train.en --memory train.tsv --memory-exact=false "
                           "--memory-threshold 50 --join > train.with-matches.en");
  std::vector<std::string> texts;
  command_line
      .Positional("TEXT", &texts, "a text to look for; none: lines of --input", /*required=*/false)
      .Options(Fields(options))
      .Options(Fields(common, {"quiet", "json", "data_dir"}))
      .Required({"memory"});
  if (!command_line.Parse(arguments)) return 0;
  if (!texts.empty() && command_line.IsSet("input")) {
    throw Error(ErrorKind::kUsage,
                "attend match: texts are given as arguments and by --input; leave out one");
  }
  if (options.join) options.match.most = 1;
  const auto memory = LoadMemory(common.DataPath(options.memory.path), options.memory.source,
                                 options.memory.target);
  const auto print = [&](const std::vector<std::string>& some) {
    for (const std::string& text : some)
      PrintMatches(text, memory->Find(text, options.match), options, common.json);
  };
  if (texts.empty()) {
    LineWindows lines({common.DataPath(options.input)}, isatty(STDOUT_FILENO) == 1);
    while (lines.Next()) {
      print(lines.lines());
      FlushOutput();
    }
    lines.ReportMalformed(common.MakeLog());
  } else {
    WarnOfFiles(texts, common.MakeLog());
    print(texts);
    FlushOutput();
  }
  return 0;
}

}  // namespace attend
