#include "train/output_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <string>

#include "attend/error.h"

namespace attend {
namespace fs = std::filesystem;

OutputLock::OutputLock(const fs::path& directory) : path_(directory / "lock") {
  try {
    MakeDirectories(directory);
    do {
      if (descriptor_ >= 0) close(descriptor_);
      Take();
    } while (!IsCurrent());
    WriteHolder();
  } catch (const Error&) {
    RemoveMade();
    throw;
  }
}

void OutputLock::MakeDirectories(const fs::path& directory) {
  fs::path each;
  for (const fs::path& part : directory) {
    if (part.empty()) continue;  // behind a closing slash
    each /= part;
    std::error_code error;
    if (fs::create_directory(each, error)) made_.push_back(each);
    if (!error) continue;
    throw Error(ErrorKind::kRuntime, fmt::format("can't create output directory '{}': {}",
                                                 directory.string(), error.message()));
  }
}

void OutputLock::RemoveMade() const {
  std::error_code ignored;  // such as of one that is not empty
  for (auto each = made_.rbegin(); each != made_.rend(); ++each) fs::remove(*each, ignored);
}

// Who holds the lock only helps people; the lock itself is the descriptor's.
void OutputLock::WriteHolder() {
  const std::string process = std::to_string(getpid());
  if (ftruncate(descriptor_, 0) == 0 &&
      pwrite(descriptor_, process.data(), process.size(), 0) >= 0) {
    return;
  }
  const int reason = errno;
  RemoveAlone();
  close(descriptor_);
  throw Error(ErrorKind::kRuntime,
              fmt::format("can't write '{}': {}", path_.string(), std::strerror(reason)));
}

void OutputLock::Take() {
  const std::string directory = path_.parent_path().string();
  descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    throw Error(ErrorKind::kRuntime, fmt::format("can't write to output directory '{}': {}",
                                                 directory, std::strerror(errno)));
  }
  if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  char holder[32] = {};
  const ssize_t length = pread(descriptor_, holder, sizeof holder - 1, 0);
  close(descriptor_);
  throw Error(
      ErrorKind::kRuntime,
      fmt::format("output directory '{}' is in use by another trainer (process {}); wait for it "
                  "or choose another output",
                  directory, length > 0 ? std::string(holder, length) : "unknown"));
}

bool OutputLock::IsCurrent() const {
  struct stat own = {}, there = {};
  return fstat(descriptor_, &own) == 0 && stat(path_.c_str(), &there) == 0 &&
         own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

void OutputLock::RemoveAlone() const {
  std::error_code ignored;
  const fs::directory_iterator entries(path_.parent_path(), ignored);
  if (std::distance(entries, fs::directory_iterator()) == 1)
    fs::remove(path_, ignored);  // while it is held: who opened it meanwhile looks again
}

OutputLock::~OutputLock() {
  RemoveAlone();
  RemoveMade();
  close(descriptor_);
}

}  // namespace attend
