// `attend export`: averages checkpoints and writes a model directory.
#include "cli/command_line.h"
#include "cli/train_commands.h"
#include "train/device/environment.h"
#include "train/export.h"

namespace attend {

int RunExport(const std::vector<std::string>& arguments) {
  CommonOptions common;
  std::vector<std::string> checkpoints;
  std::string output;
  FieldList fields;
  fields
      .Add(
          "checkpoint", &checkpoints,
          "checkpoint directories of one run to average, or the run's directory for its newest one")
      .Add("output", &output, "model directory to write");
  CommandLine command_line(
      "export", "average checkpoints and write a model directory",
      "attend export --checkpoint runs/en-de --output model\n"
      "attend export --checkpoint runs/en-de/checkpoints/update-* --output model --json");
  command_line.Options(fields)
      .Options(Fields(common, {"threads", "quiet", "json"}))
      .Required({"checkpoint", "output"});
  if (!command_line.Parse(arguments)) return 0;
  SetUpTorch(common.ThreadCount());
  const std::vector<int64_t> updates =
      ExportCheckpoints({checkpoints.begin(), checkpoints.end()}, output, common.MakeLog());
  PrintReport(common, {{"model", output}, {"averaged_updates", updates}});
  return 0;
}

}  // namespace attend
