#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "attend/error.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void Fail(ErrorKind kind, const char* action, const fs::path& path) {
  const int reason = errno;
  throw Error(kind, fmt::format("can't {} '{}': {}", action, path.string(), std::strerror(reason)));
}

void RefuseDash(const fs::path& path) {
  if (path != "-") return;
  throw Error(ErrorKind::kUsage,
              "'-' is no name to write to here; for standard output give '/dev/stdout'");
}

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

// O_NONBLOCK: opening a FIFO must fail the check for a regular file, not wait for a writer.
Descriptor OpenForReading(const fs::path& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) Fail(ErrorKind::kInput, "open", path);
  return Descriptor(descriptor);
}

// Up to `size` bytes; 0 at the end.
size_t ReadSome(const Descriptor& file, char* bytes, size_t size, const fs::path& path) {
  while (true) {
    const ssize_t got = read(file.get(), bytes, size);
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EINTR) Fail(ErrorKind::kInput, "read", path);
  }
}

struct stat StatRegular(const Descriptor& file, const fs::path& path) {
  struct stat status;
  if (fstat(file.get(), &status) != 0) Fail(ErrorKind::kInput, "read", path);
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::kInput,
                fmt::format("can't read '{}': not a regular file", path.string()));
  }
  return status;
}

void WriteAll(int descriptor, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) Fail(ErrorKind::kRuntime, "write", path);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

std::string PathOf(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

// A new file in `directory` that has no name until linkat gives it one, for which /proc must be
// there. -1 where that can't be.
int OpenNameless(const fs::path& directory) {
  const fs::path path = directory.empty() ? "." : directory;
  const int descriptor = open(path.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor < 0 || access(PathOf(descriptor).c_str(), F_OK) == 0) return descriptor;
  close(descriptor);
  return -1;
}

[[noreturn]] void RefuseHeld(const fs::path& path, const char* cure) {
  throw Error(ErrorKind::kUsage, fmt::format("'{}' is being written by another process; wait for "
                                             "its end, or give another {}",
                                             path.string(), cure));
}

// Locks an open file, unless another process holds it. A file system without locks has none to wait
// for. A file that has another name than `path` by now was finished while this one opened it.
bool IsOurs(int descriptor, const fs::path& path) {
  const bool held = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  struct stat opened = {}, named = {};
  return !held && fstat(descriptor, &opened) == 0 && stat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

// The file `temporary`, which is to become `target`, empty. -1 where it can't be opened.
int OpenLocked(const fs::path& temporary, const fs::path& target) {
  const int descriptor = open(temporary.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) return -1;
  if (!IsOurs(descriptor, temporary)) {
    close(descriptor);
    RefuseHeld(target, "name");
  }
  if (ftruncate(descriptor, 0) == 0) return descriptor;
  close(descriptor);
  return -1;
}

// Who may read a file, and whose it is where that may be set, stays as it was.
void KeepMode(const fs::path& target, int descriptor) {
  struct stat old = {};
  if (stat(target.c_str(), &old) != 0) return;
  [[maybe_unused]] const int owned = fchown(descriptor, old.st_uid, old.st_gid);
  fchmod(descriptor, old.st_mode & 0777);
}

// `a` becomes `b` and `b` becomes `a`: at once, or, on file systems that can't, by way of a third
// name. False with errno set where it fails.
bool Exchange(const fs::path& a, const fs::path& b) {
  if (renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  return ExchangeByRenames(a, b);
}

// Where an exchange by renames leaves `b` while `a` takes its name.
fs::path Between(fs::path a) { return a += kTemporarySuffix; }

}  // namespace

bool ExchangeByRenames(const fs::path& a, const fs::path& b) {
  const fs::path between = Between(a);
  std::error_code ignored;
  fs::remove_all(between, ignored);
  if (rename(b.c_str(), between.c_str()) != 0) return false;
  if (rename(a.c_str(), b.c_str()) == 0) return rename(between.c_str(), a.c_str()) == 0;
  const int reason = errno;
  rename(between.c_str(), b.c_str());
  errno = reason;
  return false;
}

std::shared_ptr<const MappedFile> MappedFile::Open(const fs::path& path) {
  const Descriptor file = OpenForReading(path);
  std::shared_ptr<MappedFile> mapped(new MappedFile);
  mapped->path_ = path;
  mapped->size_ = static_cast<size_t>(StatRegular(file, path).st_size);
  if (mapped->size_ > 0) {
    void* data = mmap(nullptr, mapped->size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (data == MAP_FAILED) Fail(ErrorKind::kInput, "map", path);
    mapped->data_ = static_cast<const std::byte*>(data);
  }
  return mapped;
}

void MappedFile::ReleasePages() const {
  if (data_ != nullptr) madvise(const_cast<std::byte*>(data_), size_, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

std::string ReadFile(const fs::path& path, size_t max_bytes) {
  const Descriptor file = OpenForReading(path);
  const auto size = static_cast<size_t>(StatRegular(file, path).st_size);
  if (size > max_bytes) {
    throw Error(ErrorKind::kInput, fmt::format("'{}' has {} bytes, expected at most {}",
                                               path.string(), size, max_bytes));
  }
  std::string bytes(size, '\0');
  size_t done = 0;
  while (done < size) {
    const size_t got = ReadSome(file, bytes.data() + done, size - done, path);
    if (got == 0) break;
    done += got;
  }
  bytes.resize(done);
  return bytes;
}

void ReadPieces(const fs::path& path, const std::function<void(std::string_view piece)>& use) {
  const Descriptor file = OpenForReading(path);
  StatRegular(file, path);
  std::string piece(size_t{1} << 18, '\0');
  while (const size_t got = ReadSome(file, piece.data(), piece.size(), path))
    use(std::string_view(piece).substr(0, got));
}

FileStamp StampOf(const fs::path& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) Fail(ErrorKind::kInput, "read", path);
  return {status.st_size, status.st_mtim.tv_sec * int64_t{1000000000} + status.st_mtim.tv_nsec};
}

void WriteFileSynced(const fs::path& path, std::string_view bytes) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.get() < 0) Fail(ErrorKind::kRuntime, "create", path);
  WriteAll(file.get(), bytes, path);
  if (fsync(file.get()) != 0) Fail(ErrorKind::kRuntime, "sync", path);
}

void WriteFileAtomically(const fs::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.Write(bytes);
  file.Commit();
}

void SyncDirectory(const fs::path& directory) {
  const fs::path path = directory.empty() ? "." : directory;
  const Descriptor file(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.get() < 0) Fail(ErrorKind::kRuntime, "open", path);
  if (fsync(file.get()) != 0) Fail(ErrorKind::kRuntime, "sync", path);
}

AtomicFile::AtomicFile(const fs::path& target) : target_(WithoutLink(target)) {
  RefuseDash(target);
  if (!target_.has_filename()) {
    errno = target_.empty() ? ENOENT : EISDIR;
    Fail(ErrorKind::kRuntime, "create", target_);
  }
  std::error_code ignored;
  const fs::file_status status = fs::status(target_, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    descriptor_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    if (fs::exists(status) && access(target_.c_str(), W_OK) != 0) {
      Fail(ErrorKind::kRuntime, "write", target_);
    }
    temporary_ = target_;
    temporary_ += kTemporarySuffix;
    descriptor_ = OpenNameless(target_.parent_path());
    if (descriptor_ < 0) {
      descriptor_ = OpenLocked(temporary_, target_);
      named_ = descriptor_ >= 0;
    }
  }
  if (descriptor_ < 0) Fail(ErrorKind::kRuntime, "create", target_);
  if (!temporary_.empty() && fs::exists(status)) KeepMode(target_, descriptor_);
}

AtomicFile::~AtomicFile() {
  close(descriptor_);
  if (named_) unlink(temporary_.c_str());
}

void AtomicFile::Write(std::string_view bytes) { WriteAll(descriptor_, bytes, target_); }

void AtomicFile::GoToStart() {
  if (lseek(descriptor_, 0, SEEK_SET) < 0) Fail(ErrorKind::kRuntime, "go back in", target_);
}

// A name can be given to a nameless file but not taken from another, hence the two steps.
void AtomicFile::Commit() {
  if (temporary_.empty()) return;
  if (fsync(descriptor_) != 0) Fail(ErrorKind::kRuntime, "sync", target_);
  if (!named_) {
    unlink(temporary_.c_str());
    if (linkat(AT_FDCWD, PathOf(descriptor_).c_str(), AT_FDCWD, temporary_.c_str(),
               AT_SYMLINK_FOLLOW) != 0) {
      Fail(ErrorKind::kRuntime, "create", temporary_);
    }
    named_ = true;
  }
  if (rename(temporary_.c_str(), target_.c_str()) != 0) {
    Fail(ErrorKind::kRuntime, "rename to", target_);
  }
  named_ = false;
  SyncDirectory(target_.parent_path());
}

fs::path WithoutLink(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  const fs::path target = fs::canonical(path, error);
  return error ? path : target;
}

GrowingFile::GrowingFile(const fs::path& path) : path_(path) {
  descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) Fail(ErrorKind::kRuntime, "create", path);
  if (IsOurs(descriptor_, path)) return;
  close(descriptor_);
  RefuseHeld(path, "name");
}

GrowingFile::~GrowingFile() { close(descriptor_); }

int64_t GrowingFile::size() const {
  struct stat status = {};
  if (fstat(descriptor_, &status) != 0) Fail(ErrorKind::kRuntime, "read", path_);
  return status.st_size;
}

void GrowingFile::Write(std::string_view bytes) { WriteAll(descriptor_, bytes, path_); }

void GrowingFile::Truncate(int64_t size) {
  if (ftruncate(descriptor_, size) != 0) Fail(ErrorKind::kRuntime, "write", path_);
}

void GrowingFile::Sync() {
  if (fsync(descriptor_) != 0) Fail(ErrorKind::kRuntime, "sync", path_);
}

void GrowingFile::MoveTo(const fs::path& target) {
  Sync();
  if (rename(path_.c_str(), target.c_str()) != 0) Fail(ErrorKind::kRuntime, "rename to", target);
  path_ = target;
  SyncDirectory(target.parent_path());
}

void GrowingFile::Remove() { unlink(path_.c_str()); }

DirectoryLock::DirectoryLock(const fs::path& directory) {
  descriptor_ = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0) Fail(ErrorKind::kInput, "open", directory);
  if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  close(descriptor_);
  RefuseHeld(directory, "directory");
}

DirectoryLock::~DirectoryLock() { close(descriptor_); }

AtomicDirectory::AtomicDirectory(fs::path target) : target_(std::move(target)) {
  RefuseDash(target_);
  if (!target_.has_filename()) target_ = target_.parent_path();  // "model/" means "model"
  target_ = WithoutLink(target_);
  temporary_ = target_;
  temporary_ += kTemporarySuffix;
  std::error_code error;
  if (!fs::exists(target_, error)) fs::rename(Between(temporary_), target_, error);  // mostly none
  fs::remove_all(temporary_, error);
  if (!error && target_.has_parent_path()) fs::create_directories(target_.parent_path(), error);
  if (!error) fs::create_directory(temporary_, error);
  if (error) {
    throw Error(ErrorKind::kRuntime,
                fmt::format("can't create '{}': {}", target_.string(), error.message()));
  }
}

AtomicDirectory::~AtomicDirectory() {
  std::error_code ignored;
  if (!committed_) fs::remove_all(temporary_, ignored);
}

void AtomicDirectory::Commit() {
  SyncDirectory(temporary_);
  const bool replaces = fs::exists(target_);
  if (replaces ? !Exchange(temporary_, target_)
               : rename(temporary_.c_str(), target_.c_str()) != 0) {
    Fail(ErrorKind::kRuntime, replaces ? "replace" : "rename to", target_);
  }
  committed_ = true;
  SyncDirectory(target_.parent_path());
  std::error_code ignored;
  if (replaces) fs::remove_all(temporary_, ignored);
}

}  // namespace attend
