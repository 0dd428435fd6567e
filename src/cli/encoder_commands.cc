#include "cli/encoder_commands.h"

#include <fmt/format.h>
#include <unistd.h>

namespace attend {

std::vector<std::string> OrStandardInput(std::vector<std::string> files) {
  CheckStandardInput(files);
  if (files.empty()) files.emplace_back("-");
  return files;
}

void RunOnLines(const std::vector<std::string>& files, const CommonOptions& common,
                const std::function<int64_t(const LineWindows& lines)>& run) {
  int64_t cut = 0;
  for (const std::string& file : OrStandardInput(files)) {
    LineWindows lines({common.DataPath(file)}, isatty(STDOUT_FILENO) == 1, common.ThreadCount());
    while (lines.Next()) {
      cut += run(lines);
      FlushOutput();
    }
    lines.ReportMalformed(common.MakeLog());
  }
  WarnOfCutTexts(cut, common.MakeLog());
}

void WarnOfCutTexts(int64_t count, const Log& log) {
  if (count == 0) return;
  log(LogLevel::kWarning, fmt::format("{} texts are longer than the model can read; of these it "
                                      "read the beginning",
                                      count));
}

}  // namespace attend
