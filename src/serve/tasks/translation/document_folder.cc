#include "serve/tasks/translation/document_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "attend/error.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kName = "attend-document-", kDrawn = "XXXXXX";

// As mkdtemp makes them: nobody else's folder may be removed.
bool HasName(std::string_view name) {
  return name.starts_with(kName) && name.size() == kName.size() + kDrawn.size() &&
         std::ranges::all_of(name.substr(kName.size()),
                             [](unsigned char letter) { return std::isalnum(letter) != 0; });
}

// A descriptor of the folder, which is this user's alone, with its lock; -1: errno is EWOULDBLOCK
// where another has the lock, ENOENT where the folder is gone.
int LockOf(const fs::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return -1;
  struct stat own = {}, there = {};
  const int refused = flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
  // Who had the lock before may have removed it.
  if (refused == 0 && fstat(descriptor, &own) == 0 && lstat(folder.c_str(), &there) == 0 &&
      own.st_dev == there.st_dev && own.st_ino == there.st_ino && own.st_uid == geteuid() &&
      (own.st_mode & ALLPERMS) == S_IRWXU) {
    return descriptor;
  }
  close(descriptor);
  errno = refused == 0 ? ENOENT : refused;
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
    std::string folder = (parent / fmt::format("{}{}", kName, kDrawn)).string();
    if (mkdtemp(folder.data()) == nullptr) break;
    path_ = folder;
    lock_ = LockOf(path_);
    // Where a file system has no locks, the folder lacks nothing else.
    if (lock_ >= 0 || (errno != EWOULDBLOCK && errno != ENOENT)) return;
  }
  throw Error(ErrorKind::kRuntime, fmt::format("'{}': {}", parent.string(), std::strerror(errno)));
}

DocumentFolder::~DocumentFolder() { Remove(); }

void DocumentFolder::Remove() {
  std::error_code none;
  if (!path_.empty()) fs::remove_all(path_, none);
  path_.clear();
  if (lock_ >= 0) close(std::exchange(lock_, -1));
}

void RemoveLeftFolders() {
  std::error_code none;
  const fs::path parent = fs::temp_directory_path(none);
  for (fs::directory_iterator entry(parent, none), end; !none && entry != end;
       entry.increment(none)) {
    if (!HasName(entry->path().filename().string())) continue;
    const int lock = LockOf(entry->path());
    if (lock < 0) continue;
    std::error_code failed;
    fs::remove_all(entry->path(), failed);
    close(lock);
  }
}

}  // namespace attend
