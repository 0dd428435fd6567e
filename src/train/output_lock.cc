#include "train/output_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "attend/error.h"

namespace attend {
namespace fs = std::filesystem;

OutputLock::OutputLock(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    throw Error(ErrorKind::kRuntime, fmt::format("can't create output directory '{}': {}",
                                                 directory.string(), error.message()));
  }
  const fs::path path = directory / "lock";
  descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    throw Error(ErrorKind::kRuntime, fmt::format("can't write to output directory '{}': {}",
                                                 directory.string(), std::strerror(errno)));
  }
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    char holder[32] = {};
    const ssize_t length = pread(descriptor_, holder, sizeof holder - 1, 0);
    close(descriptor_);
    throw Error(
        ErrorKind::kRuntime,
        fmt::format("output directory '{}' is in use by another trainer (process {}); wait for it "
                    "or choose another output",
                    directory.string(), length > 0 ? std::string(holder, length) : "unknown"));
  }
  // Who holds the lock only helps people; the lock itself is the descriptor's.
  const std::string process = std::to_string(getpid());
  if (ftruncate(descriptor_, 0) != 0 ||
      pwrite(descriptor_, process.data(), process.size(), 0) < 0) {
    const int reason = errno;
    close(descriptor_);
    throw Error(ErrorKind::kRuntime,
                fmt::format("can't write '{}': {}", path.string(), std::strerror(reason)));
  }
}

OutputLock::~OutputLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace attend
