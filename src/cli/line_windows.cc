#include "cli/line_windows.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/error.h"
#include "text/utf8.h"

namespace attend {
namespace {

constexpr size_t kLinesOnTerminal = 16;
constexpr size_t kBytesOfALine = 512;  // on average

}  // namespace

void CheckStandardInput(const std::vector<std::string>& paths) {
  if (std::count(paths.begin(), paths.end(), "-") > 1) {
    throw Error(ErrorKind::kUsage, "only one file can be standard input, '-' is given twice");
  }
}

LineWindows::LineWindows(const std::vector<std::string>& paths, bool terminal, int threads,
                         FormatCheck check)
    : most_lines_(terminal ? kLinesOnTerminal : LinesAtOnce(threads)),
      most_bytes_(std::max(LinesAtOnce(1), most_lines_) * kBytesOfALine) {
  CheckStandardInput(paths);
  for (const std::string& path : paths)
    files_.emplace_back(std::make_unique<LineReader>(path, check));
}

// The next line of each file; false at their end.
bool LineWindows::AddLine() {
  std::string line;
  if (files_[0].reader->lines() >= last_) return false;
  const bool more = files_[0].reader->Next(&line);
  for (File& file : files_) {
    if (&file != &files_[0] && file.reader->Next(&line) != more) {
      throw Error(ErrorKind::kInput,
                  fmt::format("{} and {} have different numbers of lines; expected the same",
                              files_[0].reader->name(), file.reader->name()));
    }
    if (!more) continue;
    int64_t malformed = 0;
    file.lines.push_back(RepairUtf8(line, &malformed));
    file.malformed += malformed;
  }
  return more;
}

void LineWindows::TakeOnly(int64_t first, int64_t last) {
  first_ = first;
  last_ = last;
  std::string line;
  for (File& file : files_) {
    while (file.reader->lines() + 1 < first && file.reader->Next(&line)) continue;
  }
}

bool LineWindows::Skip(int64_t count, const std::function<void(const std::string&)>& use) {
  for (int64_t i = 0; i < count; ++i) {
    for (File& file : files_) file.lines.clear();
    if (!AddLine()) return false;
    use(lines()[0]);
  }
  return true;
}

std::optional<double> LineWindows::Fraction() const {
  const LineReader& reader = *files_[0].reader;
  if (last_ == kToTheEnd) return reader.Fraction();
  const auto all = static_cast<double>(last_ - first_ + 1);
  return all > 0 ? static_cast<double>(reader.lines() - first_ + 1) / all : 1;
}

bool LineWindows::Next() {
  number_ = files_[0].reader->lines() + 1;
  for (File& file : files_) file.lines.clear();
  const auto ready = [](const File& file) { return file.reader->Ready(); };
  size_t bytes = 0;
  while (lines().size() < most_lines_ && bytes < most_bytes_) {
    if (!lines().empty() && !std::all_of(files_.begin(), files_.end(), ready)) break;
    if (!AddLine()) break;
    for (const File& file : files_) bytes += file.lines.back().size();
  }
  return !lines().empty();
}

std::string LineWindows::Where(size_t line) const {
  return fmt::format("{}:{}", files_[0].reader->name(), number_ + static_cast<int64_t>(line));
}

void LineWindows::ReportMalformed(const Log& log) const {
  for (const File& file : files_) LogMalformed(file.malformed, file.reader->name(), log);
}

}  // namespace attend
