// `attend paper`: starts attend.paper of the Python package, which makes the paper's tables on this
// machine.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "attend/error.h"
#include "base/edit_distance.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/python_package.h"

namespace attend {
namespace {

const std::vector<std::string> kTables = {"table1", "table2", "table3", "table4", "figures"};

struct PaperOptions {
  std::string output, budget, model, precision = "recipe";
  std::vector<std::string> rows;
  int64_t updates = 0, copy_updates = 2000, sentences = 500;
  double row_minutes = 12, price = 0.1;
  bool dry_run = false;
};

FieldList Fields(PaperOptions& options) {
  FieldList fields;
  fields
      .Add("output", &options.output,
           "folder of results: a page as JSON, Markdown and HTML, and what was measured, which is "
           "not measured again")
      .Add("budget", &options.budget,
           "measure nothing new after so much time, such as 90m or 4h; the same command goes on")
      .Add("dry_run", &options.dry_run, "print the plan as Markdown, measure nothing")
      .Add("rows", &options.rows,
           "of a table, what to measure, such as lstm copy-lstm of table1, or base C1 of table3; "
           "none: all")
      .Add("precision", &options.precision, {"recipe", "f32", "bf16"},
           "of trainings' matrix products; recipe: as each recipe says, which is bf16. f32 is "
           "faster on processors without instructions for bf16")
      .Group("table1")
      .Add("copy_updates", &options.copy_updates, 1, 1e9, "of each training of the copy task")
      .Group("table2")
      .Add("price", &options.price, 0, 1e6, "US dollars that an hour of this machine costs")
      .Group("figures")
      .Add("model", &options.model,
           "the model directory that they are of, English to German; none: the Transformer that "
           "table2 has trained into --output")
      .Add("sentences", &options.sentences, 1, 1e6, "of each text, at most")
      .Group("table3")
      .Add("updates", &options.updates, 0, 1e9,
           "of each training; 0: 8000, in table2 35000, and in table4 as many as each recipe has")
      .Add("row_minutes", &options.row_minutes, 0.01, 1e6, "that a training may take at most");
  return fields;
}

// Options of some tables alone, and those tables.
const std::map<std::string, std::vector<std::string>> kOptionsOf = {
    {"copy_updates", {"table1"}},
    {"device", {"table2", "table4"}},
    {"model", {"figures"}},
    {"precision", {"table2", "table4"}},
    {"price", {"table2"}},
    {"row_minutes", {"table3"}},
    {"rows", {"table1", "table2", "table3", "table4"}},
    {"sentences", {"figures"}},
    {"updates", {"table2", "table3", "table4"}}};

void CheckOptions(const CommandLine& command_line, const std::string& table) {
  for (const auto& [option, tables] : kOptionsOf) {
    if (!command_line.IsSet(option) || std::ranges::find(tables, table) != tables.end()) continue;
    throw Error(ErrorKind::kUsage, fmt::format("attend paper: {} has no {}; it is an option of {}",
                                               table, OptionName(option), fmt::join(tables, ", ")));
  }
}

}  // namespace

int RunPaper(const std::vector<std::string>& arguments) {
  CommonOptions common;
  PaperOptions options;
  std::string table;
  CommandLine command_line(
      "paper",
      "make a table or the figures of the paper on this machine, the paper's numbers beside it",
      "attend paper table1 --output paper --budget 20m\n"
      "attend paper table2 --data-dir data --output paper --rows rate lstm\n"
      "attend paper table3 --data-dir data --output paper --budget 4h\n"
      "attend paper table3 --data-dir data --output paper --rows base C1 --updates 1000\n"
      "attend paper table3 --output paper --dry-run\n"
      "attend paper table4 --data-dir data --output paper --rows treebank treebank-pcfg\n"
      "attend paper figures --model model --data-dir data --output paper");
  command_line
      .Positional("TABLE", &table,
                  fmt::format("what to make: {} of \"Attention Is All You Need\"",
                              fmt::join(kTables, " or ")))
      .Options(Fields(options))
      .Options(Fields(common, {"threads", "device", "quiet", "data_dir"}))
      .Required({"output"});
  if (!command_line.Parse(arguments)) return 0;
  if (std::ranges::find(kTables, table) == kTables.end()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("attend paper: unknown table '{}', expected {}{}", table,
                            fmt::join(kTables, " or "), DidYouMean(table, kTables)));
  }
  CheckOptions(command_line, table);
  Json call = FieldsToJson(Fields(options));
  call.update({{"table", table},
               {"threads", common.threads},
               {"device", common.device},
               {"quiet", common.quiet},
               {"data_dir", common.data_dir}});
  RunInPython("paper", "attend.paper", call);
}

}  // namespace attend
