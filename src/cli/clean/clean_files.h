// The files of `attend clean`: text in columns of a table, or in a file for each side.
#ifndef ATTEND_CLI_CLEAN_CLEAN_FILES_H_
#define ATTEND_CLI_CLEAN_CLEAN_FILES_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "cli/line_windows.h"
#include "text/compressor.h"

namespace attend {

// One text, or source and target.
using Sides = std::vector<std::string_view>;

// What a window's lines hold. Their texts lie in the window.
class CleanInput {
 public:
  // `table`: the one file has source and target in its first two columns, which tabs divide.
  CleanInput(const std::vector<std::string>& paths, bool table, int threads);

  bool Next();
  // Of the window's lines. A row of a table without a tab has one side.
  const std::vector<Sides>& lines() const { return lines_; }
  // A line as it is written to each output.
  std::vector<std::string_view> Whole(size_t line) const;
  const LineWindows& windows() const { return windows_; }

 private:
  LineWindows windows_;
  size_t files_;
  bool table_;
  std::vector<Sides> lines_;
};

// Text to a file, compressed if the name ends in .gz or .zst, which appears whole at Commit or not
// at all. One owner.
class CleanOutput {
 public:
  explicit CleanOutput(const std::string& path);
  void Write(std::string_view line);
  void Commit();

 private:
  AtomicFile file_;
  std::unique_ptr<Compressor> compressor_;
  std::string waiting_;
};

// "12<TAB>too_long<TAB>source<TAB>target": tabs of texts become spaces.
std::string DroppedLine(int64_t number, std::string_view reason,
                        std::span<const std::string_view> sides);

}  // namespace attend

#endif  // ATTEND_CLI_CLEAN_CLEAN_FILES_H_
