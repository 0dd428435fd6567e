// Recordings with what is said in them, as tables name them.
#ifndef ATTEND_DATA_RECORDINGS_H_
#define ATTEND_DATA_RECORDINGS_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "data/example_table.h"

namespace attend {

struct RecordingItem {
  Origin origin;  // the table and its line
  std::filesystem::path path;
  std::string text;  // repaired; may be empty: nobody speaks
};

// Tables of `path<TAB>text` lines; a path that is not absolute starts from its table's folder.
// Throws Error(kInput) that names the line for one without a tab or a path, and for empty tables.
std::vector<RecordingItem> ReadRecordings(const std::vector<std::string>& tables);

// A look at one recording before a training relies on it.
struct SeenRecording {
  int64_t samples = 0;  // at the rate that was asked for
  std::string sha256;   // of its samples as they are in the file
  std::string reason;   // why it can't be used; empty: it can
};

// Decodes each of them, and holds none.
std::vector<SeenRecording> SeeRecordings(const std::vector<RecordingItem>& items, int64_t rate,
                                         ThreadPool* pool);

}  // namespace attend

#endif  // ATTEND_DATA_RECORDINGS_H_
