// The lines of a long job in a file that a later call goes on with, to the bytes of an unbroken
// run.
//
// TARGET.partial holds the finished text, plain. TARGET.partial.jsonl says on its first line what
// made it, and on each further one how far it had come: lines of input, bytes of output, and
// SHA-256 of both up to there. A writer that is killed leaves both; what follows the last whole
// entry is made again.
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

// What makes a job's output what it is.
struct JobKey {
  std::string program;             // a version
  Json settings = Json::object();  // everything else: two jobs with equal settings give equal lines
};

// One owner; not thread-safe. Throws Error(kRuntime) where a file can't be written.
class PartialFile {
 public:
  // Begins, or with `resume` goes on where there is something to go on with. Throws Error(kUsage)
  // where finished lines are there without `resume`, were made otherwise than `key` says, or are
  // being written by another process.
  PartialFile(const std::filesystem::path& target, const JobKey& key, bool resume, const Log& log);
  ~PartialFile() { Leave(); }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  // Lines of input whose output is finished.
  int64_t lines() const { return last_.lines; }
  // The next line of the input, from the first on. Throws Error(kInput) where it is among the
  // finished ones and is another than it was.
  void Take(std::string_view line);
  // Adds the output of the lines taken since.
  void Write(std::string_view text);

  // What is left where work ends early: the files, and a text that says so, or without one finished
  // line neither.
  std::string Leave();
  // Compresses the text where the target's name asks for it. What Commit then does takes no time.
  void Finish();
  // Puts the target in place; nothing of this stays.
  void Commit();

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
  bool committed_ = false;
};

}  // namespace attend

#endif  // ATTEND_CLI_TRANSLATE_PARTIAL_FILE_H_
