// Files: mapped for reading, written so that a reader or a crash never sees half of one.
//
// Every function throws Error that names the path and the system's reason: kInput where something
// can't be read, kRuntime where something can't be written. "-" names no file: what may be standard
// output is not written here.
#ifndef ATTEND_BASE_FILES_H_
#define ATTEND_BASE_FILES_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace attend {

// A regular file mapped read-only. Bytes stay valid while the object lives. Safe to read from many
// threads.
class MappedFile {
 public:
  static std::shared_ptr<const MappedFile> Open(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
  const std::filesystem::path& path() const { return path_; }
  // Lets go of the memory that reading took; what is read again comes from the file again.
  void ReleasePages() const;

 private:
  MappedFile() = default;
  std::filesystem::path path_;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// The whole file; at most `max_bytes`.
std::string ReadFile(const std::filesystem::path& path, size_t max_bytes = size_t{1} << 32);

// Hands out the whole file, a small piece at a time: what is not kept takes no memory.
void ReadPieces(const std::filesystem::path& path,
                const std::function<void(std::string_view piece)>& use);

// What tells that a file was written to since.
struct FileStamp {
  int64_t bytes = 0;
  int64_t nanoseconds = 0;  // when it was last written to
  bool operator==(const FileStamp&) const = default;
};
FileStamp StampOf(const std::filesystem::path& path);

// Writes a new file and syncs it; an existing one is replaced in place (use inside a directory that
// is not visible yet).
void WriteFileSynced(const std::filesystem::path& path, std::string_view bytes);

// Ends the names of what is being written; a killed writer leaves it behind, the next one removes
// it.
inline constexpr const char* kTemporarySuffix = ".attend-tmp";

// An AtomicFile that is written and committed at once.
void WriteFileAtomically(const std::filesystem::path& path, std::string_view bytes);

// Makes what was renamed or created in `directory` durable.
void SyncDirectory(const std::filesystem::path& directory);

// A file written piece by piece that Commit() syncs and puts at `target`; without it nothing of it
// stays, and what was at `target` does. Until then it has no name, so that not even a kill leaves
// anything behind; on file systems without such files it is `target` + kTemporarySuffix, which the
// next run replaces. A target that is no regular file (a device, a pipe) is written directly; a
// link is followed. What replaces a file has its mode. One owner.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void Write(std::string_view bytes);
  // What is written next goes over the first bytes; an error for a pipe, which has but an end.
  void GoToStart();
  void Commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path temporary_;  // empty for a device or pipe
  int descriptor_ = -1;
  bool named_ = false;  // something of ours is at temporary_
};

// What a link leads to, where that has a name: /dev/stdout may lead to a pipe. Any other path as it
// is.
std::filesystem::path WithoutLink(const std::filesystem::path& path);

// A file that grows at its end and stays whatever happens to its writer, which alone has it:
// another process that opens it so gets Error(kUsage). One owner.
class GrowingFile {
 public:
  // Opens the file, or creates it.
  explicit GrowingFile(const std::filesystem::path& path);
  ~GrowingFile();
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  int64_t size() const;
  const std::filesystem::path& path() const { return path_; }
  void Write(std::string_view bytes);
  void Truncate(int64_t size);
  void Sync();
  // Syncs it and gives it another name, at once in place of what has that name. Nothing is written
  // after that.
  void MoveTo(const std::filesystem::path& target);
  void Remove();

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

// A directory that one process alone writes to, from the constructor on: another that wants it gets
// Error(kUsage). A file system without locks has none to wait for. One owner.
class DirectoryLock {
 public:
  explicit DirectoryLock(const std::filesystem::path& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int descriptor_ = -1;
};

// `a` becomes `b` and `b` becomes `a`, on file systems that can't do so at once; false with errno
// set, and both as they were, where it fails. After a kill in between, an AtomicDirectory of `b`
// finds what was there, where `a` is its temporary path.
bool ExchangeByRenames(const std::filesystem::path& a, const std::filesystem::path& b);

// A directory that appears whole or not at all: fill path(), then Commit() syncs it and renames it
// to `target`. What is at `target` already is replaced only by Commit; a link is followed. Without
// Commit the destructor removes what was written.
class AtomicDirectory {
 public:
  explicit AtomicDirectory(std::filesystem::path target);
  ~AtomicDirectory();
  AtomicDirectory(const AtomicDirectory&) = delete;
  AtomicDirectory& operator=(const AtomicDirectory&) = delete;

  const std::filesystem::path& path() const { return temporary_; }
  void Commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path temporary_;
  bool committed_ = false;
};

}  // namespace attend

#endif  // ATTEND_BASE_FILES_H_
