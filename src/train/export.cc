#include "train/export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attend/error.h"
#include "base/json.h"
#include "model/model_directory.h"
#include "train/checkpoint/average.h"
#include "train/checkpoint/checkpoint_store.h"
#include "train/checkpoint/train_state.h"
#include "train/tasks/registry.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

// The checkpoint itself, or the newest one of a run's output directory.
StoredCheckpoint CheckpointAt(const fs::path& path, const Log& log) {
  if (fs::exists(path / kStateFile) || !fs::is_directory(path / "checkpoints"))
    return ReadCheckpointState(path);
  const auto newest = CheckpointStore(path / "checkpoints").FindNewest(log);
  if (!newest)
    throw Error(ErrorKind::kInput, fmt::format("'{}' holds no checkpoint", path.string()));
  return *newest;
}

std::string StateFileOf(const StoredCheckpoint& checkpoint) {
  return (checkpoint.directory / kStateFile).string();
}

// The later one says that its run went on with other options after the earlier one.
bool TellsOfChanges(const StoredCheckpoint& earlier, const StoredCheckpoint& later) {
  const Json before = TrainStateFromJson(earlier.state, StateFileOf(earlier)).changes,
             after = TrainStateFromJson(later.state, StateFileOf(later)).changes;
  return after.size() > before.size() && std::equal(before.begin(), before.end(), after.begin());
}

// Weights of different runs have no useful mean, nor have they the same vocabulary.
void CheckOneRun(const StoredCheckpoint& checkpoint, const StoredCheckpoint& first) {
  const bool in_order = first.update <= checkpoint.update;
  const StoredCheckpoint& earlier = in_order ? first : checkpoint;
  const StoredCheckpoint& later = in_order ? checkpoint : first;
  RunChanges found = CompareRuns(RunOf(earlier.state, StateFileOf(earlier)),
                                 RunOf(later.state, StateFileOf(later)));
  std::vector<std::string> differences = std::move(found.forbidden);
  if (!TellsOfChanges(earlier, later))
    differences.insert(differences.end(), found.applied.begin(), found.applied.end());
  if (differences.empty()) return;
  throw Error(ErrorKind::kInput,
              fmt::format("checkpoint '{}' is of another run than '{}': {}; only checkpoints of "
                          "one run can be averaged",
                          later.directory.string(), earlier.directory.string(),
                          fmt::join(differences, "; ")));
}

Json ProvenanceOf(const StoredCheckpoint& last, const std::vector<StoredCheckpoint>& checkpoints,
                  const RunIdentity& run) {
  Json provenance = Json::object();
  provenance["command"] = "attend train";
  provenance["seed"] = run.options.value("seed", Json());
  provenance["data_digests"] = run.data_digests;
  provenance["environment"] = run.environment;
  provenance["averaged_updates"] = Json::array();
  for (const StoredCheckpoint& checkpoint : checkpoints)
    provenance["averaged_updates"].push_back(checkpoint.update);
  provenance["target_tokens"] = last.state.value("target_tokens", Json());
  provenance["metrics"] = {{"best", last.state.value("best", Json::array())}};
  return provenance;
}

}  // namespace

std::vector<int64_t> ExportCheckpoints(const std::vector<fs::path>& checkpoints,
                                       const fs::path& output, const Log& log) {
  std::vector<StoredCheckpoint> stored;
  for (const fs::path& path : checkpoints) {
    stored.push_back(CheckpointAt(path, log));
    CheckOneRun(stored.back(), stored.front());
  }
  const TensorTable weights = AverageCheckpoints(stored);
  const StoredCheckpoint& last =
      *std::max_element(stored.begin(), stored.end(),
                        [](const auto& a, const auto& b) { return a.update < b.update; });
  const std::string where = StateFileOf(last);
  const RunIdentity run = RunOf(last.state, where);

  Model model;
  model.config = ModelConfigOf(run.model, where);
  model.tensors = weights;
  model.provenance = ProvenanceOf(last, stored, run);
  FindTask(model.config.task).complete_model({run, last.directory, where}, &model);
  SaveModel(model, output);
  log(LogLevel::kInfo, fmt::format("wrote {} (average of {} checkpoint{})", output.string(),
                                   stored.size(), stored.size() == 1 ? "" : "s"));
  return model.provenance.at("averaged_updates");
}

}  // namespace attend
