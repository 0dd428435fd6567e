// Lines of one file, or of files that belong together line by line, as commands that stream take
// them: a window runs at once, which is enough for full batches on every thread and bounded memory
// on endless input.
#ifndef ATTEND_CLI_LINE_WINDOWS_H_
#define ATTEND_CLI_LINE_WINDOWS_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "text/lines.h"

namespace attend {

// Throws Error(kUsage) where "-" appears twice: standard input can be read once.
void CheckStandardInput(const std::vector<std::string>& paths);

// One owner; not thread-safe but for ReportMalformed.
class LineWindows {
 public:
  // "-" is standard input, for one file at most. Where somebody watches the output (`terminal`) a
  // window has a few lines only, else more with more threads to run it. Throws Error as LineReader
  // and CheckStandardInput do.
  LineWindows(const std::vector<std::string>& paths, bool terminal, int threads = 1,
              FormatCheck check = FormatCheck::kSentences);

  // Only the lines from `first` to `last`, from 1, of each file are taken. Before the first Next.
  void TakeOnly(int64_t first, int64_t last);
  // Passes over the next `count` lines of each file, those of the first, repaired, to `use`; false
  // where there are fewer.
  bool Skip(int64_t count, const std::function<void(const std::string&)>& use);
  // The part of the lines to take that was taken, from 0 to 1; nothing where that can't be known.
  std::optional<double> Fraction() const;

  // Waits for one line of each file and takes those that are there already, with malformed UTF-8
  // repaired. False where no line is left. Throws Error(kInput) as LineReader does, and where one
  // file ends before another.
  bool Next();
  // The window's lines of the file at `index` in `paths`.
  const std::vector<std::string>& lines(size_t index = 0) const { return files_[index].lines; }
  // Of the window's first line, from 1.
  int64_t number() const { return number_; }
  // Of the first file, its name and what was repaired of it so far.
  const std::string& name() const { return files_[0].reader->name(); }
  int64_t malformed() const { return files_[0].malformed; }
  // "FILE:LINE" of one of the window's lines of the first file.
  std::string Where(size_t line) const;
  // Says for each file what was repaired so far. Another thread may call it.
  void ReportMalformed(const Log& log) const;

 private:
  static constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();
  struct File {
    explicit File(std::unique_ptr<LineReader> from) : reader(std::move(from)) {}
    const std::unique_ptr<LineReader> reader;
    std::vector<std::string> lines;
    std::atomic<int64_t> malformed = 0;
  };
  bool AddLine();

  std::deque<File> files_;  // which stay where they are
  size_t most_lines_, most_bytes_;
  int64_t first_ = 1, last_ = kToTheEnd;  // to take
  int64_t number_ = 1;
};

}  // namespace attend

#endif  // ATTEND_CLI_LINE_WINDOWS_H_
