// `attend export --checkpoint`: averages checkpoints and writes a model directory.
#include "attend/error.h"
#include "cli/export_options.h"
#include "cli/train_commands.h"
#include "train/device/environment.h"
#include "train/export.h"

namespace attend {

int RunExportCheckpoints(const std::vector<std::string>& arguments) {
  ExportOptions options;
  if (!ParseExport(arguments, &options)) return 0;
  if (options.checkpoints.empty())
    throw Error(ErrorKind::kUsage, "attend-train averages checkpoints; call attend export");
  SetUpTorch(options.common.ThreadCount());
  const std::vector<int64_t> updates =
      ExportCheckpoints({options.checkpoints.begin(), options.checkpoints.end()},
                        {options.output, options.model}, options.common.MakeLog());
  PrintReport(options.common, {{"model", options.output}, {"averaged_updates", updates}});
  return 0;
}

}  // namespace attend
