#include "train/metrics_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "attend/error.h"
#include "base/files.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void Fail(const char* action, const fs::path& path) {
  const int reason = errno;
  throw Error(ErrorKind::kRuntime,
              fmt::format("can't {} '{}': {}", action, path.string(), std::strerror(reason)));
}

// Calls use(line, end) for each whole line of the file until it returns false; `end` is the offset
// behind the line.
template <class Use>
void ForEachLine(const std::string& text, Use use) {
  size_t begin = 0;
  for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    if (!use(std::string_view(text).substr(begin, end - begin), end + 1)) return;
  }
}

// Bytes of the lines up to `last_update`. Lines stand in the order of their updates.
size_t SizeUpTo(const fs::path& path, int64_t last_update) {
  size_t size = 0;
  if (!fs::exists(path)) return size;
  ForEachLine(ReadFile(path), [&](std::string_view line, size_t end) {
    const Json value = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!value.is_object() || !value.contains("update") || value["update"] > last_update)
      return false;
    size = end;
    return true;
  });
  return size;
}

}  // namespace

AppendFile::AppendFile(fs::path path, size_t size) : path_(std::move(path)) {
  descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) Fail("open", path_);
  if (ftruncate(descriptor_, static_cast<off_t>(size)) != 0) Fail("cut", path_);
}

AppendFile::~AppendFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void AppendFile::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) Fail("write", path_);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void AppendFile::Sync() {
  if (fsync(descriptor_) != 0) Fail("sync", path_);
}

MetricsLog::MetricsLog(const fs::path& path, int64_t last_update)
    : file_(path, SizeUpTo(path, last_update)) {}

void MetricsLog::Append(const Json& line) { file_.Append(line.dump() + "\n"); }

void ForEachMetric(const fs::path& path, const std::function<void(const Json&)>& use) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line) && !file.eof();) {
    const Json value = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!value.is_object()) return;
    use(value);
  }
}

std::vector<Json> ReadMetrics(const fs::path& path) {
  std::vector<Json> lines;
  ForEachMetric(path, [&](const Json& line) { lines.push_back(line); });
  return lines;
}

}  // namespace attend
