// `attend export`: merges an adapter, or starts attend-train, which averages checkpoints, or
// attend.convert of the Python package, which writes what other toolkits read.
#include "cli/commands.h"
#include "cli/export_options.h"
#include "cli/python_package.h"
#include "cli/train_launcher.h"

namespace attend {

int RunExport(const std::vector<std::string>& arguments) {
  ExportOptions options;
  if (!ParseExport(arguments, &options)) return 0;
  if (!options.adapter.empty()) {
    MergeAdapter(options);
    return 0;
  }
  if (options.format == ExportFormat::kAttend) StartAttendTrain("export", arguments);
  std::vector<std::string> call = {
      "--format", NameOf(options.format), "--model",     options.model,
      "--output", options.output,         "--positions", std::to_string(options.positions)};
  if (options.verify) call.emplace_back("--verify");
  if (options.common.quiet) call.emplace_back("--quiet");
  RunInPython("export", "attend.convert.export_command", call);
}

}  // namespace attend
