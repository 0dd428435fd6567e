// The checkpoints of one run, on disk: DIR/checkpoints/update-NNNNNNNNNN, each a directory of
// safetensors files, state.json and SHA256SUMS, which `sha256sum --check` reads of whole ones, too.
//
// A checkpoint appears whole or not at all (temporary name, sync, rename, directory synced) and
// carries the SHA-256 of its files. The store keeps a bounded number: the newest whole, others with
// what averaging needs of them. One owner, who holds the output directory's lock. Knows nothing of
// Torch or of what the files mean.
#ifndef ATTEND_TRAIN_CHECKPOINT_CHECKPOINT_STORE_H_
#define ATTEND_TRAIN_CHECKPOINT_CHECKPOINT_STORE_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/log.h"
#include "model/tensor_table.h"

namespace attend {

inline constexpr const char* kWeightsFile = "weights.safetensors";
inline constexpr const char* kAverageFile = "average.safetensors";      // with ema_decay
inline constexpr const char* kOptimizerFile = "optimizer.safetensors";  // needed only to go on
inline constexpr const char* kStateFile = "state.json";
inline constexpr const char* kDigestsFile = "SHA256SUMS";

struct StoredCheckpoint {
  std::filesystem::path directory;
  int64_t update = 0;
  std::map<std::string, std::string> digests;  // of each file, by its name
  Json state;                                  // state.json
};

class CheckpointStore {
 public:
  // Touches nothing: others may look at a directory that a trainer writes to.
  explicit CheckpointStore(std::filesystem::path directory) : directory_(std::move(directory)) {}

  // Removes what a killed writer left. For its one writer, who holds the output's lock.
  void Prepare();

  // Writes the files and `state`, to which it adds `format`; makes the directory where it is
  // missing.
  void Write(int64_t update, const std::map<std::string, TensorTable>& files, Json state);

  // The newest checkpoint that is whole. Each newer one that is not is named in a warning, unless
  // it is what Prune leaves of one. Nothing where there are none; throws Error(kInput) where there
  // are some and none is whole, or where another version's stands before a whole one.
  std::optional<StoredCheckpoint> FindNewest(const Log& log) const;

  // Keeps the checkpoints of the updates in `whole`, the newest among them, of those in
  // `with_weights` what averaging needs, and no others.
  void Prune(const std::set<int64_t>& whole, const std::set<int64_t>& with_weights);

  std::filesystem::path DirectoryOf(int64_t update) const;
  // Updates of the checkpoints on disk, oldest first.
  std::vector<int64_t> Updates() const;

 private:
  std::filesystem::path directory_;
};

// Reads a checkpoint's state.json and digests. Throws Error(kInput) naming the file that is missing
// or damaged, as the others do.
StoredCheckpoint ReadCheckpointState(const std::filesystem::path& directory);
// The same, and checks every file of the checkpoint.
StoredCheckpoint ReadCheckpoint(const std::filesystem::path& directory);
// The path of a file of the checkpoint, once its digest is found right.
std::filesystem::path CheckedFile(const StoredCheckpoint& checkpoint, const std::string& name);

}  // namespace attend

#endif  // ATTEND_TRAIN_CHECKPOINT_CHECKPOINT_STORE_H_
