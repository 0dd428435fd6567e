#include "cli/text_commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "attend/error.h"
#include "base/excerpt.h"

namespace attend {

std::vector<std::string> OrStandardInput(std::vector<std::string> files) {
  CheckStandardInput(files);
  if (files.empty()) files.emplace_back("-");
  return files;
}

namespace {

// A text may stand where the name of a file is expected.
void CheckIsNoText(const std::string& path) {
  std::error_code ignored;
  if (path.find(' ') == path.npos || std::filesystem::exists(path, ignored)) return;
  throw Error(ErrorKind::kInput,
              fmt::format("there is no file '{}'; a text itself goes through standard input: echo "
                          "\"TEXT\" | attend ...",
                          Excerpt(path)));
}

}  // namespace

void RunOnLines(const std::vector<std::string>& files, const CommonOptions& common,
                const std::function<int64_t(const LineWindows& lines)>& run) {
  int64_t cut = 0;
  for (const std::string& file : OrStandardInput(files)) {
    CheckIsNoText(common.DataPath(file));
    LineWindows lines({common.DataPath(file)}, isatty(STDOUT_FILENO) == 1, common.ThreadCount());
    while (lines.Next()) {
      cut += run(lines);
      FlushOutput();
    }
    lines.ReportMalformed(common.MakeLog());
  }
  WarnOfCutTexts(cut, common.MakeLog());
}

void WarnOfFiles(const std::vector<std::string>& texts, const Log& log) {
  for (const std::string& text : texts) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(text, ignored)) continue;
    log(LogLevel::kWarning,
        fmt::format("'{}' is taken as a text, and there is a file of that name; --input reads it",
                    Excerpt(text)));
  }
}

void WarnOfCutTexts(int64_t count, const Log& log) {
  if (count == 0) return;
  log(LogLevel::kWarning, fmt::format("{} texts are longer than the model can read; of these it "
                                      "read the beginning",
                                      count));
}

}  // namespace attend
