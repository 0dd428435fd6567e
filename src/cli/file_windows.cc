#include "cli/file_windows.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "attend/error.h"
#include "base/counted.h"
#include "cli/line_windows.h"

namespace attend {

void RunOnFiles(const std::vector<std::string>& paths, const CommonOptions& common,
                const FileNouns& nouns, const TellFiles& tell) {
  constexpr size_t kTogether = 64;
  int64_t files = 0, unreadable = 0;
  std::string first_error;
  const auto run = [&](std::span<const std::string> some) {
    for (size_t first = 0; first < some.size(); first += kTogether) {
      for (const std::string& error :
           tell(some.subspan(first, std::min(kTogether, some.size() - first)))) {
        ++files;
        if (!error.empty() && unreadable++ == 0) first_error = error;
      }
      FlushOutput();
    }
  };
  run(paths);
  if (paths.empty()) {
    LineWindows lines({"-"}, isatty(STDOUT_FILENO) == 1, common.ThreadCount());
    while (lines.Next()) run(lines.lines());
  }
  if (unreadable == 0) return;
  if (unreadable == files) throw Error(ErrorKind::kInput, first_error);
  common.MakeLog()(LogLevel::kWarning,
                   fmt::format("{} of {} could not be read and {} no {}; the first: {}", unreadable,
                               Counted(files, nouns.file), unreadable == 1 ? "has" : "have",
                               nouns.lacks, first_error));
}

}  // namespace attend
