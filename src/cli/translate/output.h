// Where translations go: to standard output or a device at once, to a file by way of a partial one.
#ifndef ATTEND_CLI_TRANSLATE_OUTPUT_H_
#define ATTEND_CLI_TRANSLATE_OUTPUT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/log.h"
#include "cli/line_windows.h"
#include "cli/translate/partial_file.h"
#include "text/compressor.h"

namespace attend {

// One owner; not thread-safe.
class TranslationOutput {
 public:
  // "-" is standard output. Throws Error(kUsage) for `resume` of what is no file, and as
  // PartialFile.
  TranslationOutput(const std::string& path, const JobKey& key, bool resume, const Log& log);

  // Passes over the lines whose translations are there. Throws Error(kInput) where the input has
  // fewer, or other ones.
  void PassFinished(LineWindows* lines);
  // Adds the translations of a window's first lines.
  void Write(const std::vector<std::string>& lines, size_t count, std::string_view text);
  // As PartialFile's.
  std::string Leave() { return partial_ ? partial_->Leave() : ""; }
  bool IsFile() const { return partial_ != nullptr; }
  // The file is in its place.
  bool IsComplete() const { return partial_ && partial_->committed(); }
  void Finish();
  void Commit();

  static bool IsTerminal(const std::string& path);

 private:
  std::unique_ptr<PartialFile> partial_;
  std::unique_ptr<AtomicFile> device_;
  std::unique_ptr<Compressor> compressor_;  // of the device
};

}  // namespace attend

#endif  // ATTEND_CLI_TRANSLATE_OUTPUT_H_
