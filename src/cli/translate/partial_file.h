// The finished lines of a long job, in a file from which a later call resumes to the same bytes as
// an uninterrupted run.
//
// TARGET.partial holds the finished text, plain. The first line of TARGET.partial.jsonl says what
// made it. Each further line records progress: lines of input, bytes of output, and the SHA-256 of
// both so far. A writer that is killed leaves both files. The next one repeats what follows the
// last whole entry.
#ifndef ATTEND_CLI_TRANSLATE_PARTIAL_FILE_H_
#define ATTEND_CLI_TRANSLATE_PARTIAL_FILE_H_

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "base/sha256.h"

namespace attend {

// Everything that determines a job's output, except the input.
struct JobKey {
  std::string program;             // a version
  Json settings = Json::object();  // everything else: two jobs with equal settings give equal lines
};

// One owner; not thread-safe. Throws Error(kRuntime) where a file can't be written.
class PartialFile {
 public:
  // Begins, or with `resume` continues if there are finished lines. Throws Error(kUsage) if there
  // are finished lines without `resume`, if they have another `key`, or if another process writes
  // them.
  PartialFile(const std::filesystem::path& target, const JobKey& key, bool resume, const Log& log);
  ~PartialFile() { Leave(); }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  // Lines of input whose output is finished.
  int64_t lines() const { return last_.lines; }
  // Takes the next line of the input, beginning with the first. Throws Error(kInput) if it is among
  // the finished lines and has changed.
  void Take(std::string_view line);
  // Throws Error(kInput) with this message, about an input that the finished lines were not made
  // of. Leave then advises no resuming.
  [[noreturn]] void RefuseInput(const std::string& message);
  // Adds the output of the lines taken since.
  void Write(std::string_view text);

  // For work that ends early: keeps the files and returns a message about them, or "" where the
  // input was refused. Without a finished line it removes them and returns "".
  std::string Leave();
  // Compresses the text if the target's name asks for it, so that Commit is quick.
  void Finish();
  // Puts the target in place and removes the partial files.
  void Commit();
  bool committed() const { return committed_; }

 private:
  struct Entry {
    int64_t lines = 0, bytes = 0;
    std::string source, output;  // SHA-256
  };
  std::vector<std::string> ReadJournal() const;
  void CheckKey(const std::string& first_line, const JobKey& key, const Log& log) const;
  void FindFinished(const std::vector<std::string>& journal, const Log& log);
  void Begin(const JobKey& key);
  void SyncAtTimes();
  static std::optional<Entry> EntryOf(const std::string& line);

  std::filesystem::path target_;
  GrowingFile text_, journal_;
  std::vector<Entry> done_;  // by earlier calls
  size_t checked_ = 0;       // of done_, against the input
  Entry last_;
  int64_t taken_ = 0;
  Sha256Stream source_, output_;
  std::optional<AtomicFile> compressed_;
  std::chrono::steady_clock::time_point synced_ = std::chrono::steady_clock::now();
  bool committed_ = false, input_refused_ = false;
};

}  // namespace attend

#endif  // ATTEND_CLI_TRANSLATE_PARTIAL_FILE_H_
