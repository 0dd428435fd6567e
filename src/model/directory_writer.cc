#include "model/directory_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/error.h"
#include "base/sha256.h"
#include "model/config_file.h"
#include "model/safetensors.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

const fs::path& Replaceable(const fs::path& directory) {
  CheckReplaceable(directory);
  return directory;
}

}  // namespace

void CheckReplaceable(const fs::path& directory) {
  std::error_code error;
  if (!fs::exists(directory, error)) return;
  std::string foreign = directory.filename().string();
  if (fs::is_directory(directory, error)) {
    foreign.clear();
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
      const std::string name = entry.path().filename().string();
      const bool known = name == kConfigFile ||
                         std::find(std::begin(kListedFiles), std::end(kListedFiles), name) !=
                             std::end(kListedFiles);
      if (!known) foreign = name;
    }
  }
  if (foreign.empty() && !error) return;
  throw Error(
      ErrorKind::kUsage,
      fmt::format("'{}' exists and holds more than a model ('{}'), expected a new name or a model "
                  "to replace; remove it or choose another name",
                  directory.string(), foreign));
}

DirectoryWriter::DirectoryWriter(const fs::path& directory) : directory_(Replaceable(directory)) {}

void DirectoryWriter::Write(const char* name, const std::string& bytes) {
  WriteFileSynced(directory_.path() / name, bytes);
  digests_[name] = Sha256(bytes);
}

void DirectoryWriter::Write(const char* name, const TensorTable& tensors) {
  SaveSafetensors(tensors, directory_.path() / name);
  digests_[name] = Sha256OfFile(directory_.path() / name);
}

void DirectoryWriter::WriteSamples(Json samples) {
  while (!samples.empty()) {
    const std::string text = samples.dump(1) + "\n";
    if (text.size() <= kMaxSampleBytes) return Write(kSampleFile, text);
    samples.erase(samples.size() - 1);
  }
}

void DirectoryWriter::Commit(Json config) {
  config["sha256"] = digests_;
  const std::string text = config.dump(2) + "\n";
  if (text.size() > kMaxConfigBytes) {
    Damaged(kConfigFile, fmt::format("would have {} bytes, expected at most {}: fewer or shorter "
                                     "names and facts of the model",
                                     text.size(), kMaxConfigBytes));
  }
  WriteFileSynced(directory_.path() / kConfigFile, text);
  directory_.Commit();
}

}  // namespace attend
