// Preloaded into attend-train by resume_test.py: counts what is done to files under a directory and
// ends the process, as a power cut would, at a chosen one of them.
//
// ATTEND_KILL_UNDER: the directory. ATTEND_KILL_LOG: a file that gets a line for each operation.
// ATTEND_KILL_AT: the operation, counted from 1, at which SIGKILL comes; a write is done half
// before.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

template <class Function>
Function* Real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

using WriteFunction = ssize_t(int, const void*, size_t);

std::string PathOf(int descriptor) {
  char path[PATH_MAX];
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = readlink(link.c_str(), path, sizeof path);
  return length > 0 ? std::string(path, length) : "";
}

// Counts the operation; true where it is the one to die at.
bool IsLast(const char* operation, const std::string& path) {
  static std::atomic<long> count = 0;
  const char* under = std::getenv("ATTEND_KILL_UNDER");
  if (under == nullptr || path.rfind(under, 0) != 0) return false;
  const long number = ++count;
  if (const char* log = std::getenv("ATTEND_KILL_LOG")) {
    const std::string line = std::to_string(number) + " " + operation + " " + path + "\n";
    const int file = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    Real<WriteFunction>("write")(file, line.data(), line.size());
    close(file);
  }
  const char* at = std::getenv("ATTEND_KILL_AT");
  return at != nullptr && std::atol(at) == number;
}

void DieIfLast(const char* operation, const std::string& path) {
  if (IsLast(operation, path)) kill(getpid(), SIGKILL);
}

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* bytes, size_t count) {
  static auto* const real = Real<WriteFunction>("write");
  if (IsLast("write", PathOf(descriptor))) {
    real(descriptor, bytes, count / 2);
    kill(getpid(), SIGKILL);
  }
  return real(descriptor, bytes, count);
}

ssize_t writev(int descriptor, const struct iovec* parts, int count) {
  static auto* const real = Real<ssize_t(int, const struct iovec*, int)>("writev");
  if (IsLast("write", PathOf(descriptor))) {
    real(descriptor, parts, count / 2);
    kill(getpid(), SIGKILL);
  }
  return real(descriptor, parts, count);
}

int fsync(int descriptor) {
  DieIfLast("fsync", PathOf(descriptor));
  return Real<int(int)>("fsync")(descriptor);
}

int rename(const char* from, const char* to) {
  DieIfLast("rename", to);
  return Real<int(const char*, const char*)>("rename")(from, to);
}

int renameat2(int from_directory, const char* from, int to_directory, const char* to,
              unsigned int flags) {
  DieIfLast("renameat2", to);
  return Real<int(int, const char*, int, const char*, unsigned int)>("renameat2")(
      from_directory, from, to_directory, to, flags);
}

int linkat(int from_directory, const char* from, int to_directory, const char* to, int flags) {
  DieIfLast("linkat", to);
  return Real<int(int, const char*, int, const char*, int)>("linkat")(from_directory, from,
                                                                      to_directory, to, flags);
}

int ftruncate(int descriptor, off_t size) {
  DieIfLast("ftruncate", PathOf(descriptor));
  return Real<int(int, off_t)>("ftruncate")(descriptor, size);
}

int unlink(const char* path) {
  DieIfLast("unlink", path);
  return Real<int(const char*)>("unlink")(path);
}

int unlinkat(int directory, const char* path, int flags) {
  DieIfLast("unlinkat", directory == AT_FDCWD ? path : PathOf(directory) + "/" + path);
  return Real<int(int, const char*, int)>("unlinkat")(directory, path, flags);
}

int remove(const char* path) {
  DieIfLast("remove", path);
  return Real<int(const char*)>("remove")(path);
}

int mkdir(const char* path, mode_t mode) {
  DieIfLast("mkdir", path);
  return Real<int(const char*, mode_t)>("mkdir")(path, mode);
}

}  // extern "C"
