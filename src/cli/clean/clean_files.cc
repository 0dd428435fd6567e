#include "cli/clean/clean_files.h"

#include <fmt/format.h>

#include <algorithm>

namespace attend {

CleanInput::CleanInput(const std::vector<std::string>& paths, bool table, int threads)
    : windows_(paths, false, 16 * threads, table ? FormatCheck::kText : FormatCheck::kSentences),
      files_(paths.size()),
      table_(table) {}

bool CleanInput::Next() {
  lines_.clear();
  if (!windows_.Next()) return false;
  for (size_t line = 0; line < windows_.lines().size(); ++line) {
    Sides& sides = lines_.emplace_back(Whole(line));
    if (!table_) continue;
    const std::string_view whole = sides[0];
    const size_t first = whole.find('\t');
    if (first == whole.npos) continue;
    const size_t second = std::min(whole.find('\t', first + 1), whole.size());
    sides = {whole.substr(0, first), whole.substr(first + 1, second - first - 1)};
  }
  return true;
}

std::vector<std::string_view> CleanInput::Whole(size_t line) const {
  std::vector<std::string_view> whole;
  for (size_t file = 0; file < files_; ++file) whole.push_back(windows_.lines(file)[line]);
  return whole;
}

CleanOutput::CleanOutput(const std::string& path)
    : file_(path), compressor_(Compressor::ForName(path)) {}

void CleanOutput::Write(std::string_view line) {
  constexpr size_t kAtOnce = size_t{1} << 16;
  waiting_.append(line).push_back('\n');
  if (waiting_.size() < kAtOnce) return;
  file_.Write(compressor_->Add(waiting_));
  waiting_.clear();
}

void CleanOutput::Commit() {
  file_.Write(compressor_->Add(waiting_));
  file_.Write(compressor_->End());
  file_.Commit();
}

std::string DroppedLine(int64_t number, std::string_view reason,
                        std::span<const std::string_view> sides) {
  std::string line = fmt::format("{}\t{}", number, reason);
  for (const std::string_view side : sides) {
    line.push_back('\t');
    line.append(side);
    std::replace(line.end() - static_cast<int64_t>(side.size()), line.end(), '\t', ' ');
  }
  return line;
}

}  // namespace attend
