#include "train/logs/metrics_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "attend/error.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void Fail(const char* action, const fs::path& path) {
  const int reason = errno;
  throw Error(ErrorKind::kRuntime,
              fmt::format("can't {} '{}': {}", action, path.string(), std::strerror(reason)));
}

// Calls use(value, end) for each whole line until one is no JSON object or it returns false; `end`
// is the offset behind the line.
template <class Use>
void ForEachObject(const fs::path& path, Use use) {
  if (!fs::exists(path)) return;
  std::ifstream file(path);
  if (!file) Fail("open", path);
  size_t end = 0;
  for (std::string line; std::getline(file, line) && !file.eof();) {
    end += line.size() + 1;
    const Json value = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!value.is_object() || !use(value, end)) return;
  }
  if (file.bad()) Fail("read", path);
}

// Bytes of the lines up to `last_update`. Lines stand in the order of their updates.
size_t SizeUpTo(const fs::path& path, int64_t last_update) {
  size_t size = 0;
  ForEachObject(path, [&](const Json& value, size_t end) {
    const bool kept = value.contains("update") && value["update"] <= last_update;
    if (kept) size = end;
    return kept;
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

void MetricsLog::Append(const Json& line) { file_.Append(Dump(line) + "\n"); }

void ForEachMetric(const fs::path& path, const std::function<void(const Json&)>& use) {
  ForEachObject(path, [&](const Json& value, size_t) {
    use(value);
    return true;
  });
}

}  // namespace attend
