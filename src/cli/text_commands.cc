#include "cli/text_commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "attend/error.h"
#include "base/counted.h"
#include "base/excerpt.h"
#include "cli/unknown_lines.h"
#include "text/utf8.h"

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
  if (path == "-" || std::filesystem::exists(path, ignored)) return;
  throw Error(ErrorKind::kInput,
              fmt::format("there is no file '{}'; a text itself goes through standard input: echo "
                          "\"TEXT\" | attend ...",
                          Excerpt(path)));
}

// What is of another encoding, or no text, would be answered all the same.
class MalformedShare {
 public:
  void Check(const LineWindows& lines) {
    constexpr int64_t kFew = 16;  // of a short text
    for (const std::string& line : lines.lines()) characters_ += CountCodePoints(line);
    const int64_t malformed = lines.malformed();
    if (malformed <= kFew || 3 * malformed < characters_) return;
    throw Error(ErrorKind::kInput,
                fmt::format("{}: {} of {} characters so far are malformed UTF-8; convert the text, "
                            "such as: iconv -f ISO-8859-1 -t UTF-8",
                            lines.name(), malformed, characters_));
  }

 private:
  int64_t characters_ = 0;
};

}  // namespace

void RunOnLines(const std::vector<std::string>& files, const CommonOptions& common,
                const std::shared_ptr<const Vocabulary>& vocabulary,
                const std::function<int64_t(const LineWindows& lines)>& run,
                const std::function<std::string(const std::string& line)>& as_read) {
  int64_t cut = 0;
  UnknownLines unknown(vocabulary);
  for (const std::string& file : OrStandardInput(files)) {
    CheckIsNoText(common.DataPath(file));
    LineWindows lines({common.DataPath(file)}, isatty(STDOUT_FILENO) == 1, common.ThreadCount());
    MalformedShare share;
    while (lines.Next()) {
      share.Check(lines);
      cut += run(lines);
      FlushOutput();
      std::vector<std::string> read;
      if (as_read) std::ranges::transform(lines.lines(), std::back_inserter(read), as_read);
      unknown.Add(as_read ? read : lines.lines(), lines.number(),
                  files.size() > 1 ? lines.name() : "");
    }
    lines.ReportMalformed(common.MakeLog());
  }
  unknown.Report(common.MakeLog());
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
  log(LogLevel::kWarning,
      fmt::format("{} {} longer than the model can read; of {} it read the beginning",
                  Counted(count, "text"), count == 1 ? "is" : "are", count == 1 ? "it" : "these"));
}

void WarnOfUnknownIn(const std::vector<std::string>& texts,
                     const std::shared_ptr<const Vocabulary>& vocabulary, const Log& log) {
  UnknownLines unknown(vocabulary, "text");
  unknown.Add(texts, 1);
  unknown.Report(log);
}

}  // namespace attend
