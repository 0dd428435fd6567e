// `attend export`: merges an adapter, or starts attend-train, which averages checkpoints, or
// attend.convert of the Python package, which writes what other toolkits read and gets its options
// as one JSON object.
#include "base/json.h"
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
  const Json call = {{"format", NameOf(options.format)}, {"model", options.model},
                     {"output", options.output},         {"positions", options.positions},
                     {"verify", options.verify},         {"quiet", options.common.quiet}};
  RunInPython("export", "attend.convert.export_command", call);
}

}  // namespace attend
