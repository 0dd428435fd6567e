// A NumPy file of rows of numbers, written row by row.
#ifndef ATTEND_CLI_NPY_FILE_H_
#define ATTEND_CLI_NPY_FILE_H_

#include <cstdint>
#include <fstream>
#include <span>
#include <string>

namespace attend {

// Format 1.0 of numpy.lib.format: f32, [rows, width]. The file appears under its name when it is
// whole. One owner.
class NpyFile {
 public:
  // Throws Error(kRuntime) for a file that can't be written, as the other calls do.
  NpyFile(std::string path, int64_t width);
  ~NpyFile();  // without Finish() nothing is left

  void Add(std::span<const float> row);
  void Finish();

 private:
  void WriteHeader();
  void Check();

  std::string path_, partial_;
  std::ofstream file_;
  int64_t width_, rows_ = 0;
  bool whole_ = false;
};

}  // namespace attend

#endif  // ATTEND_CLI_NPY_FILE_H_
