// Commands whose input is files: `attend classify` of pictures, `attend transcribe`.
#ifndef ATTEND_CLI_FILE_WINDOWS_H_
#define ATTEND_CLI_FILE_WINDOWS_H_

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cli/command_line.h"

namespace attend {

// Says what there is to say of some files; gives for each why it could not be read, or "".
using TellFiles = std::function<std::vector<std::string>(std::span<const std::string> paths)>;

// What a warning calls a file and what it lacks: "3 of 9 pictures could not be read and have no
// class; the first: ...".
struct FileNouns {
  std::string file, lacks;
};

// Tells of the files, or of those whose paths are the lines of standard input, in their order, some
// at a time. A warning at the end names and counts those that can't be read. Throws Error(kInput)
// with the first reason where none can.
void RunOnFiles(const std::vector<std::string>& paths, const CommonOptions& common,
                const FileNouns& nouns, const TellFiles& tell);

}  // namespace attend

#endif  // ATTEND_CLI_FILE_WINDOWS_H_
