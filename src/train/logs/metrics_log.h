// What training measured, a JSON object a line: DIR/metrics.jsonl and DIR/timing.jsonl.
#ifndef ATTEND_TRAIN_LOGS_METRICS_LOG_H_
#define ATTEND_TRAIN_LOGS_METRICS_LOG_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "base/json.h"

namespace attend {

// A file that only grows; a write is whole or an error.
class AppendFile {
 public:
  // Opens or makes the file and cuts it to `size` bytes.
  AppendFile(std::filesystem::path path, size_t size);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  void Append(std::string_view bytes);
  void Sync();

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

// An appended-to file that can be cut back to an update, so that a run that goes on from a
// checkpoint holds each update once. One owner. Throws Error(kRuntime) where the file can't be
// written.
class MetricsLog {
 public:
  // Opens or makes the file and keeps the whole lines whose "update" is at most `last_update`.
  MetricsLog(const std::filesystem::path& path, int64_t last_update);

  // `line` has a member "update". Each line is one write.
  void Append(const Json& line);
  // Makes what was appended durable.
  void Sync() { file_.Sync(); }

 private:
  AppendFile file_;
};

// Goes through the whole lines of such a file, up to the first that is no JSON object; a cut last
// line is left out. None where there is no file. Throws Error(kRuntime) for one that can't be read.
void ForEachMetric(const std::filesystem::path& path, const std::function<void(const Json&)>& use);

}  // namespace attend

#endif  // ATTEND_TRAIN_LOGS_METRICS_LOG_H_
