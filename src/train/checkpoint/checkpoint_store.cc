#include "train/checkpoint/checkpoint_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "attend/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "model/safetensors.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kCheckpointFormat = 2;
constexpr std::string_view kPrefix = "update-";
constexpr std::string_view kBetween = "  ";  // a digest and a name, as sha256sum writes them

// The update that a checkpoint's directory is named after.
std::optional<int64_t> UpdateOf(const std::string& name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  int64_t update = 0;
  const char* begin = name.data() + kPrefix.size();
  const char* end = name.data() + name.size();
  const auto [stop, status] = std::from_chars(begin, end, update);
  if (status != std::errc() || stop != end || begin == end) return std::nullopt;
  return update;
}

[[noreturn]] void Damaged(const fs::path& path, const std::string& why) {
  throw Error(ErrorKind::kInput, fmt::format("checkpoint file '{}' {}", path.string(), why));
}

// Whole, but of another version of the program.
struct OtherFormat : Error {
  using Error::Error;
};

void CheckFormat(const Json& state, const fs::path& directory) {
  if (!state.is_object() || !state.contains("format") || state["format"] == kCheckpointFormat)
    return;
  throw OtherFormat(ErrorKind::kInput,
                    fmt::format("checkpoint '{}' has format {}, expected {}; use the version of "
                                "attend that wrote it, or start again in another directory",
                                directory.string(), state["format"].dump(), kCheckpointFormat));
}

std::map<std::string, std::string> ReadDigests(const fs::path& path) {
  std::map<std::string, std::string> digests;
  std::istringstream lines(ReadFile(path));
  for (std::string line; std::getline(lines, line);) {
    const size_t between = line.find(kBetween);
    if (between == std::string::npos) Damaged(path, "is damaged");
    digests[line.substr(between + kBetween.size())] = line.substr(0, between);
  }
  return digests;
}

}  // namespace

void CheckpointStore::Prepare() {
  if (!fs::exists(directory_)) return;
  std::vector<fs::path> leftovers;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory_)) {
    if (entry.path().extension() == kTemporarySuffix) leftovers.push_back(entry.path());
  }
  for (const fs::path& leftover : leftovers) fs::remove_all(leftover);
}

fs::path CheckpointStore::DirectoryOf(int64_t update) const {
  return directory_ / fmt::format("{}{:010}", kPrefix, update);
}

std::vector<int64_t> CheckpointStore::Updates() const {
  std::vector<int64_t> updates;
  if (!fs::exists(directory_)) return updates;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory_)) {
    if (const auto update = UpdateOf(entry.path().filename())) updates.push_back(*update);
  }
  std::sort(updates.begin(), updates.end());
  return updates;
}

void CheckpointStore::Write(int64_t update, const std::map<std::string, TensorTable>& files,
                            Json state) {
  AtomicDirectory directory(DirectoryOf(update));
  std::string digests;
  const auto add_digest = [&](const std::string& name) {
    digests += Sha256OfFile(directory.path() / name).append(kBetween).append(name).append("\n");
  };
  for (const auto& [name, tensors] : files) {
    SaveSafetensors(tensors, directory.path() / name);
    add_digest(name);
  }
  state["format"] = kCheckpointFormat;
  WriteFileSynced(directory.path() / kStateFile, state.dump(1) + "\n");
  add_digest(kStateFile);
  WriteFileSynced(directory.path() / kDigestsFile, digests);
  directory.Commit();
}

StoredCheckpoint ReadCheckpointState(const fs::path& directory) {
  if (!fs::exists(directory / kStateFile)) {
    throw Error(ErrorKind::kInput, fmt::format("'{}' is not a checkpoint: it has no {}",
                                               directory.string(), kStateFile));
  }
  const fs::path digests = directory / kDigestsFile, path = directory / kStateFile;
  if (!fs::exists(digests)) {  // as before format 2
    CheckFormat(ParseJson(ReadFile(path), path.string()), directory);
    Damaged(digests, "is missing");
  }
  StoredCheckpoint checkpoint{directory, 0, ReadDigests(digests), Json()};
  checkpoint.state = ParseJson(ReadFile(CheckedFile(checkpoint, kStateFile)), path.string());
  const Json& state = checkpoint.state;
  if (!state.is_object() || !state.contains("format") || !state.contains("update") ||
      !state["update"].is_number_integer()) {
    Damaged(path, "lacks format or update");
  }
  CheckFormat(state, directory);
  checkpoint.update = state["update"];
  return checkpoint;
}

StoredCheckpoint ReadCheckpoint(const fs::path& directory) {
  StoredCheckpoint checkpoint = ReadCheckpointState(directory);
  for (const auto& [name, digest] : checkpoint.digests) CheckedFile(checkpoint, name);
  return checkpoint;
}

fs::path CheckedFile(const StoredCheckpoint& checkpoint, const std::string& name) {
  const fs::path path = checkpoint.directory / fs::path(name).filename();
  const auto digest = checkpoint.digests.find(name);
  if (digest == checkpoint.digests.end() || !fs::exists(path)) Damaged(path, "is missing");
  if (Sha256OfFile(path) != digest->second)
    Damaged(path, fmt::format("is damaged: its SHA-256 is not the one in {}", kDigestsFile));
  return path;
}

std::optional<StoredCheckpoint> CheckpointStore::FindNewest(const Log& log) const {
  std::vector<int64_t> updates = Updates();
  for (auto update = updates.rbegin(); update != updates.rend(); ++update) {
    const bool pruned =
        update != updates.rbegin() && !fs::exists(DirectoryOf(*update) / kOptimizerFile);
    if (pruned) continue;
    try {
      return ReadCheckpoint(DirectoryOf(*update));
    } catch (const OtherFormat&) {
      throw;
    } catch (const Error& error) {
      log(LogLevel::kWarning, fmt::format("{}; trying the checkpoint before it", error.what()));
    }
  }
  if (updates.empty()) return std::nullopt;
  throw Error(
      ErrorKind::kInput,
      fmt::format(
          "none of the {} checkpoints in '{}' is whole; remove the directory to start again",
          updates.size(), directory_.string()));
}

void CheckpointStore::Prune(const std::set<int64_t>& whole, const std::set<int64_t>& with_weights) {
  for (const int64_t update : Updates()) {
    const fs::path directory = DirectoryOf(update);
    if (whole.count(update) > 0) continue;
    if (with_weights.count(update) > 0) {
      fs::remove(directory / kOptimizerFile);
    } else {
      // First out of sight, so that a kill leaves no half of a checkpoint under its name.
      fs::path leftover = directory;
      leftover += kTemporarySuffix;
      fs::rename(directory, leftover);
      fs::remove_all(leftover);
    }
  }
}

}  // namespace attend
