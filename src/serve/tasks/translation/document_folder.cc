#include "serve/tasks/translation/document_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "attend/error.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

constexpr const char* kName = "attend-document-";

// A descriptor of the folder, which is this user's, with its lock; -1: another has the lock, or
// the folder is gone.
int LockOf(const fs::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return -1;
  struct stat own = {}, there = {};
  const bool locked = flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  // Who had the lock before may have removed it.
  if (locked && fstat(descriptor, &own) == 0 && lstat(folder.c_str(), &there) == 0 &&
      own.st_dev == there.st_dev && own.st_ino == there.st_ino && own.st_uid == geteuid()) {
    return descriptor;
  }
  close(descriptor);
  return -1;
}

}  // namespace

DocumentFolder::DocumentFolder() {
  std::error_code failed;
  const fs::path parent = fs::temp_directory_path(failed);
  if (failed)
    throw Error(ErrorKind::kRuntime, "there is no folder for temporary files; set TMPDIR");
  // A service that starts may remove a new one before it is locked; hardly twice.
  for (int attempt = 0; attempt < 10; ++attempt) {
    std::string folder = (parent / (std::string(kName) + "XXXXXX")).string();
    if (mkdtemp(folder.data()) == nullptr) break;
    lock_ = LockOf(folder);
    path_ = folder;
    if (lock_ >= 0) return;
  }
  throw Error(ErrorKind::kRuntime, fmt::format("'{}': {}", parent.string(), std::strerror(errno)));
}

DocumentFolder::~DocumentFolder() { Remove(); }

void DocumentFolder::Remove() {
  if (lock_ < 0) return;
  std::error_code none;
  fs::remove_all(path_, none);
  close(std::exchange(lock_, -1));
}

void RemoveLeftFolders() {
  std::error_code none;
  const fs::path parent = fs::temp_directory_path(none);
  for (fs::directory_iterator entry(parent, none), end; !none && entry != end;
       entry.increment(none)) {
    if (!entry->path().filename().string().starts_with(kName)) continue;
    const int lock = LockOf(entry->path());
    if (lock < 0) continue;
    std::error_code failed;
    fs::remove_all(entry->path(), failed);
    close(lock);
  }
}

}  // namespace attend
