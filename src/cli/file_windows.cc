#include "cli/file_windows.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "attend/error.h"
#include "base/counted.h"
#include "base/first_few.h"
#include "cli/line_windows.h"

namespace attend {

void Unreadable::Count(const std::string& error) {
  ++all_;
  if (error.empty()) return;
  ++unreadable_;
  if (std::ssize(first_) < kNamedReasons) first_.push_back(error);
}

void Unreadable::Tell(const std::string& one, const std::string& lacks, const Log& log) const {
  if (unreadable_ == 0) return;
  if (unreadable_ == all_) {
    throw Error(ErrorKind::kInput,
                all_ == 1 ? first_[0]
                          : fmt::format("none of {} could be read: {}", Counted(all_, one),
                                        FirstFew(first_, {}, unreadable_)));
  }
  log(LogLevel::kWarning,
      fmt::format("{} of {} could not be read and {} no {}: {}", unreadable_, Counted(all_, one),
                  unreadable_ == 1 ? "has" : "have", lacks, FirstFew(first_, {}, unreadable_)));
}

void RunOnFiles(const std::vector<std::string>& paths, const CommonOptions& common,
                const FileNouns& nouns, const TellFiles& tell) {
  constexpr size_t kTogether = 64;
  Unreadable unreadable;
  const auto run = [&](std::span<const std::string> some) {
    for (size_t first = 0; first < some.size(); first += kTogether) {
      for (const std::string& error :
           tell(some.subspan(first, std::min(kTogether, some.size() - first))))
        unreadable.Count(error);
      FlushOutput();
    }
  };
  run(paths);
  if (paths.empty()) {
    LineWindows lines({"-"}, isatty(STDOUT_FILENO) == 1, common.ThreadCount());
    while (lines.Next()) run(lines.lines());
  }
  unreadable.Tell(nouns.file, nouns.lacks, common.MakeLog());
}

}  // namespace attend
