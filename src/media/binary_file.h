// Whole binary files, plain or gzip.
#ifndef ATTEND_MEDIA_BINARY_FILE_H_
#define ATTEND_MEDIA_BINARY_FILE_H_

#include <cstddef>
#include <functional>
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

// How long a file is by its header, which `read` gets: `bytes`, or fewer where the file has fewer.
// It may throw, for a header of another kind.
struct HeaderReader {
  size_t bytes = 0;
  std::function<size_t(std::string_view)> read;
};

// Throws Error(kInput) that names the file for one that can't be read, a damaged or cut gzip file,
// and a gzip file that is longer than its header says, of which no more is unpacked. A plain file's
// length is the caller's to check.
std::unique_ptr<BinaryFile> OpenBinaryFile(const std::string& path, const HeaderReader& header);

}  // namespace attend

#endif  // ATTEND_MEDIA_BINARY_FILE_H_
