#include "train/checkpoint/output_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "attend/error.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

// The process that holds the lock of what is open, as the system tells; empty where it doesn't.
std::string HolderOf(int descriptor) {
  struct stat own = {};
  if (fstat(descriptor, &own) != 0) return "";
  std::ifstream locks("/proc/locks");  // "1: FLOCK ADVISORY WRITE 17126 fe:00:5335491 0 EOF"
  const std::string inode = fmt::format(":{}", own.st_ino);
  for (std::string number, kind, mode, access, process, place, begin, end;
       locks >> number >> kind >> mode >> access >> process >> place >> begin >> end;) {
    if (kind == "FLOCK" && place.ends_with(inode)) return process;
  }
  return "";
}

// What the holder of a lock file wrote into it.
std::string TextOf(int descriptor) {
  char text[32] = {};
  const ssize_t length = pread(descriptor, text, sizeof text - 1, 0);
  return length > 0 ? std::string(text, static_cast<size_t>(length)) : "";
}

void Lock(int descriptor, const fs::path& directory, bool file) {
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return;
  const int reason = errno;
  if (reason != EWOULDBLOCK) {
    throw Error(ErrorKind::kRuntime, fmt::format("can't lock output directory '{}': {}",
                                                 directory.string(), std::strerror(reason)));
  }
  const std::string holder = file ? TextOf(descriptor) : HolderOf(descriptor);
  throw Error(
      ErrorKind::kRuntime,
      fmt::format("output directory '{}' is in use by another trainer (process {}); wait for it "
                  "or choose another output",
                  directory.string(), holder.empty() ? "unknown" : holder));
}

// The path still names what is open: another start may have removed it before we had the lock.
bool IsCurrent(int descriptor, const fs::path& path) {
  struct stat own = {}, there = {};
  return fstat(descriptor, &own) == 0 && stat(path.c_str(), &there) == 0 &&
         own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

void Close(int* descriptor) {
  if (*descriptor >= 0) close(*descriptor);
  *descriptor = -1;
}

}  // namespace

OutputLock::OutputLock(const fs::path& directory) : directory_(directory) {
  try {
    do {
      Close(&descriptor_);
      MakeDirectories();
      Open();
    } while (!IsCurrent(descriptor_, directory_));
  } catch (const Error&) {
    Close(&descriptor_);
    RemoveMade();
    throw;
  }
}

void OutputLock::MakeDirectories() {
  fs::path each;
  for (const fs::path& part : directory_) {
    if (part.empty()) continue;  // behind a closing slash
    each /= part;
    std::error_code error;
    if (fs::create_directory(each, error)) made_.push_back(each);
    if (!error) continue;
    throw Error(ErrorKind::kRuntime, fmt::format("can't create output directory '{}': {}",
                                                 directory_.string(), error.message()));
  }
}

void OutputLock::Open() {
  descriptor_ = open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0) {
    throw Error(ErrorKind::kRuntime, fmt::format("can't open output directory '{}': {}",
                                                 directory_.string(), std::strerror(errno)));
  }
  Lock(descriptor_, directory_, /*file=*/false);
  if (access(directory_.c_str(), W_OK | X_OK) == 0) return;
  throw Error(ErrorKind::kRuntime, fmt::format("can't write to output directory '{}': {}",
                                               directory_.string(), std::strerror(errno)));
}

void OutputLock::RemoveMade() const {
  std::error_code ignored;  // such as of one that is not empty
  for (auto each = made_.rbegin(); each != made_.rend(); ++each) fs::remove(*each, ignored);
}

void OutputLock::LockFile() {
  const fs::path path = directory_ / "lock";
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) {
    throw Error(ErrorKind::kRuntime, fmt::format("can't write to output directory '{}': {}",
                                                 directory_.string(), std::strerror(errno)));
  }
  try {
    Lock(file_, directory_, /*file=*/true);
  } catch (const Error&) {
    Close(&file_);
    throw;
  }
  // Helps people; the lock itself is the descriptor's.
  const std::string process = std::to_string(getpid());
  if (ftruncate(file_, 0) == 0 && pwrite(file_, process.data(), process.size(), 0) >= 0) return;
  throw Error(ErrorKind::kRuntime,
              fmt::format("can't write '{}': {}", path.string(), std::strerror(errno)));
}

OutputLock::~OutputLock() {
  std::error_code ignored;
  const fs::directory_iterator entries(directory_, ignored);
  if (file_ >= 0 && std::distance(entries, fs::directory_iterator()) == 1)
    fs::remove(directory_ / "lock", ignored);
  RemoveMade();
  Close(&file_);
  Close(&descriptor_);
}

}  // namespace attend
