// A NumPy file of rows of numbers, written row by row.
#ifndef ATTEND_CLI_NPY_FILE_H_
#define ATTEND_CLI_NPY_FILE_H_

#include <cstdint>
#include <span>
#include <string>

#include "base/files.h"

namespace attend {

// Format 1.0 of numpy.lib.format: f32, [rows, width]. One owner.
class NpyFile {
 public:
  // As AtomicFile: nothing is at `path` before Commit(), and a pipe is refused, because the number
  // of rows stands at the beginning. Throws Error(kRuntime), as the other calls do.
  NpyFile(const std::string& path, int64_t width);

  void Add(std::span<const float> row);
  void Commit();

 private:
  void WriteHeader();

  AtomicFile file_;
  int64_t width_, rows_ = 0;
};

}  // namespace attend

#endif  // ATTEND_CLI_NPY_FILE_H_
