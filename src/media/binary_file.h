// Whole binary files, plain or gzip.
#ifndef ATTEND_MEDIA_BINARY_FILE_H_
#define ATTEND_MEDIA_BINARY_FILE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace attend {

// The bytes of a file: a plain one is mapped, one whose name ends in .gz is unpacked into memory.
// Safe to read from many threads.
class BinaryFile {
 public:
  virtual ~BinaryFile() = default;
  virtual std::string_view bytes() const = 0;
};

// Throws Error(kInput) that names the file for one that can't be read, a damaged or cut gzip file,
// and one of more than `max_bytes` once unpacked; memory grows with what is there.
std::unique_ptr<BinaryFile> OpenBinaryFile(const std::string& path, size_t max_bytes);

}  // namespace attend

#endif  // ATTEND_MEDIA_BINARY_FILE_H_
