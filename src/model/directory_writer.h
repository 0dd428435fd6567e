// Writes a directory with a config.json: a model or an adapter.
#ifndef ATTEND_MODEL_DIRECTORY_WRITER_H_
#define ATTEND_MODEL_DIRECTORY_WRITER_H_

#include <filesystem>
#include <string>

#include "base/files.h"
#include "base/json.h"
#include "model/tensor_table.h"

namespace attend {

// The directory appears whole or not at all, and takes the place of a model or adapter that is
// there. One owner.
class DirectoryWriter {
 public:
  // Throws Error(kUsage) where something else is.
  explicit DirectoryWriter(const std::filesystem::path& directory);

  void Write(const char* name, const std::string& bytes);
  void Write(const char* name, const TensorTable& tensors);
  // Writes config.json with the digests of all other files, and commits.
  void Commit(Json config);

 private:
  AtomicDirectory directory_;
  Json digests_ = Json::object();
};

}  // namespace attend

#endif  // ATTEND_MODEL_DIRECTORY_WRITER_H_
