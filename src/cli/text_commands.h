// What the commands share that read texts: `attend classify`, `embed`, `fill`, `generate` and
// `tag`.
#ifndef ATTEND_CLI_TEXT_COMMANDS_H_
#define ATTEND_CLI_TEXT_COMMANDS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attend/vocabulary.h"
#include "base/log.h"
#include "cli/command_line.h"
#include "cli/line_windows.h"

namespace attend {

// Files that a command reads one after another; none: standard input. Throws Error(kUsage) where
// that is given twice.
std::vector<std::string> OrStandardInput(std::vector<std::string> files);

// Gives `run` the lines of the files, window by window. It prints what the model says of them and
// returns how many of them were longer than the model can read. Warnings tell of these at the end,
// and of characters that the model's vocabulary lacks: in lines as the model reads them (`as_read`;
// null: as they stand).
void RunOnLines(const std::vector<std::string>& files, const CommonOptions& common,
                const std::shared_ptr<const Vocabulary>& vocabulary,
                const std::function<int64_t(const LineWindows& lines)>& run,
                const std::function<std::string(const std::string& line)>& as_read = nullptr);

// The name of a file may stand where a text is expected: warns of it.
void WarnOfFiles(const std::vector<std::string>& texts, const Log& log);

void WarnOfCutTexts(int64_t count, const Log& log);

// Of texts that are arguments: characters that the model's vocabulary lacks.
void WarnOfUnknownIn(const std::vector<std::string>& texts,
                     const std::shared_ptr<const Vocabulary>& vocabulary, const Log& log);

}  // namespace attend

#endif  // ATTEND_CLI_TEXT_COMMANDS_H_
