// `attend compare`: starts attend.compare of the Python package, which shows runs of `attend train`
// side by side.
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/python_package.h"

namespace attend {
namespace {

struct CompareOptions {
  std::string output;
  int64_t bootstrap_samples = 1000;
};

FieldList Fields(CompareOptions& options) {
  FieldList fields;
  fields
      .Add("output", &options.output,
           "a page (HTML) with the same and plots of the curves, which needs matplotlib; it needs "
           "no other file")
      .Add("bootstrap_samples", &options.bootstrap_samples, 1, 1e7,
           "samples of the test text, by which each run is compared with the first (with --seed)");
  return fields;
}

}  // namespace

int RunCompare(const std::vector<std::string>& arguments) {
  CommonOptions common;
  common.seed = 12345;  // sacreBLEU's, as in `attend evaluate`
  CompareOptions options;
  std::vector<std::string> runs;
  CommandLine command_line(
      "compare",
      "show runs of `attend train` side by side: figures of validation and test, speed, "
      "significance on the test text, options that differ, curves",
      "attend compare small large\n"
      "attend compare runs/* --output compare.html\n"
      "attend compare small large --json");
  command_line
      .Positional(
          "RUN", &runs,
          "directories that `attend train --output` made, two or more of one task, finished "
          "or at work; the others' test texts are compared with that of the first")
      .Options(Fields(options))
      .Options(Fields(common, {"seed", "quiet", "json"}));
  if (!command_line.Parse(arguments)) return 0;
  Json call = FieldsToJson(Fields(options));
  call.update(
      {{"runs", runs}, {"seed", common.seed}, {"quiet", common.quiet}, {"json", common.json}});
  RunInPython("compare", "attend.compare", call);
}

}  // namespace attend
