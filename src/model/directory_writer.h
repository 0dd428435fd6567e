// Writes a directory with a config.json: a model or an adapter.
#ifndef ATTEND_MODEL_DIRECTORY_WRITER_H_
#define ATTEND_MODEL_DIRECTORY_WRITER_H_

#include <filesystem>
#include <string>

#include "base/files.h"
#include "base/json.h"
#include "model/tensor_table.h"

namespace attend {

// What stands at `directory` may be replaced: nothing, an empty folder, or a model or an adapter
// without anything else beside its files. Throws Error(kUsage) for anything else, so that a command
// can refuse it before it works.
void CheckReplaceable(const std::filesystem::path& directory);

// The directory appears whole or not at all, and takes the place of a model or adapter that is
// there. One owner.
class DirectoryWriter {
 public:
  // Throws as CheckReplaceable.
  explicit DirectoryWriter(const std::filesystem::path& directory);

  void Write(const char* name, const std::string& bytes);
  void Write(const char* name, const TensorTable& tensors);
  // Of these samples as many, from the first on, as a reader takes; no file where there are none.
  void WriteSamples(Json samples);
  // Writes config.json with the digests of all other files, and commits. Throws Error(kInput) where
  // it is longer than a reader takes.
  void Commit(Json config);

 private:
  AtomicDirectory directory_;
  Json digests_ = Json::object();
};

}  // namespace attend

#endif  // ATTEND_MODEL_DIRECTORY_WRITER_H_
