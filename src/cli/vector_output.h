// Where `attend embed` writes its vectors: lines of JSON, or the rows of a NumPy file.
#ifndef ATTEND_CLI_VECTOR_OUTPUT_H_
#define ATTEND_CLI_VECTOR_OUTPUT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/npy_file.h"

namespace attend {

// One owner.
class VectorOutput {
 public:
  // To a NumPy file at `path`, as NpyFile writes it; "": lines on standard output. Throws
  // Error(kRuntime), as the other calls do.
  VectorOutput(const std::string& path, int64_t width);

  // `line`: what the vector is of. It gets the key "embedding".
  void Add(Json line, std::span<const float> values_W);
  // One that can't be read: a row of NaN, or the key "error" in the line.
  void AddUnreadable(Json line, const std::string& error);
  void Commit();

 private:
  void Print(const Json& line) const;

  std::optional<NpyFile> rows_;
  std::vector<float> none_W_;
};

}  // namespace attend

#endif  // ATTEND_CLI_VECTOR_OUTPUT_H_
