#include "cli/translate/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "attend/error.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

// A path that names no file is AtomicFile's to refuse.
bool IsDevice(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return !path.has_filename() || (fs::exists(status) && !fs::is_regular_file(status));
}

void WriteToStandardOutput(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) < text.size() || std::fflush(stdout) != 0) {
    throw Error(ErrorKind::kRuntime,
                fmt::format("can't write to standard output: {}", std::strerror(errno)));
  }
}

}  // namespace

TranslationOutput::TranslationOutput(const std::string& path, const JobKey& key, bool resume,
                                     const Log& log) {
  const bool device = path == "-" || IsDevice(path);
  if (resume && device) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--resume continues a file, and --output is {}; give it a file's "
                            "name",
                            path == "-" ? "standard output" : "'" + path + "'"));
  }
  Compressor::RefuseOthers("--output", path);
  if (!device) {
    partial_ = std::make_unique<PartialFile>(path, key, resume, log);
  } else if (path != "-") {
    device_ = std::make_unique<AtomicFile>(path);
    compressor_ = Compressor::ForName(path);
  }
}

bool TranslationOutput::IsTerminal(const std::string& path) {
  return path == "-" && isatty(STDOUT_FILENO) == 1;
}

void TranslationOutput::PassFinished(LineWindows* lines) {
  if (!partial_) return;
  const int64_t finished = partial_->lines();
  int64_t passed = 0;
  const auto take = [&](const std::string& line) {
    partial_->Take(line);
    ++passed;
  };
  if (lines->Skip(finished, take)) return;
  partial_->RefuseInput(
      fmt::format("the input has {} lines, and the output of {} is there; give the same input, or "
                  "remove the partial file to start again",
                  passed, finished));
}

void TranslationOutput::Write(const std::vector<std::string>& lines, size_t count,
                              std::string_view text) {
  if (count == 0) return;
  if (!partial_)
    return device_ ? device_->Write(compressor_->Add(text)) : WriteToStandardOutput(text);
  for (size_t i = 0; i < count; ++i) partial_->Take(lines[i]);
  partial_->Write(text);
}

void TranslationOutput::Finish() {
  if (partial_) partial_->Finish();
}

void TranslationOutput::Commit() {
  if (partial_) partial_->Commit();
  if (!device_) return;
  device_->Write(compressor_->End());
  device_->Commit();
}

}  // namespace attend
