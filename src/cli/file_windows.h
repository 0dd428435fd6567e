// Commands whose input is files: `attend classify` of pictures, `attend transcribe`.
#ifndef ATTEND_CLI_FILE_WINDOWS_H_
#define ATTEND_CLI_FILE_WINDOWS_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/log.h"
#include "cli/command_line.h"

namespace attend {

// Those that could not be read, of files or items.
class Unreadable {
 public:
  // "": it could be read.
  void Count(const std::string& error);
  // Warns with their number and the first reasons: "3 of 9 pictures could not be read and have no
  // class: ...". `one`: what each is. Throws Error(kInput) with the same where none could.
  void Tell(const std::string& one, const std::string& lacks, const Log& log) const;

 private:
  int64_t all_ = 0, unreadable_ = 0;
  std::vector<std::string> first_;
};

// Says what there is to say of some files; gives for each why it could not be read, or "".
using TellFiles = std::function<std::vector<std::string>(std::span<const std::string> paths)>;

// What a warning calls a file and what it lacks, as Unreadable::Tell has them.
struct FileNouns {
  std::string file, lacks;
};

// Tells of the files, or of those whose paths are the lines of standard input, in their order, some
// at a time, and at the end of those that can't be read, as Unreadable::Tell does.
void RunOnFiles(const std::vector<std::string>& paths, const CommonOptions& common,
                const FileNouns& nouns, const TellFiles& tell);

}  // namespace attend

#endif  // ATTEND_CLI_FILE_WINDOWS_H_
