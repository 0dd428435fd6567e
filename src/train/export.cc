#include "train/export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attend/error.h"
#include "attend/nn/linear_layer.h"
#include "base/json.h"
#include "base/sha256.h"
#include "model/adapted_model.h"
#include "model/directory_writer.h"
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

// The matrices that an adapter of these weights changes.
std::vector<std::string> MatricesOf(const TensorTable& weights) {
  std::vector<std::string> names;
  for (const TensorView& tensor : weights.tensors()) {
    if (!nn::IsAdapterB(tensor.name)) continue;
    names.push_back(tensor.name.substr(0, tensor.name.rfind('.')) + ".weight");
  }
  return names;
}

// The model whose adapter the run trained, which must be as it was.
std::shared_ptr<const Model> BaseOf(const ExportedRun& run, const fs::path& given) {
  const fs::path path =
      given.empty() ? fs::path(MemberOf<std::string>(run.identity.task, kBasePath, run.where))
                    : given;
  if (!fs::exists(path)) {
    throw Error(ErrorKind::kInput,
                fmt::format("'{}', the model that the adapter is for, is not there; put it back, "
                            "or name its place with --model",
                            path.string()));
  }
  std::shared_ptr<const Model> base = LoadModel(path);
  if (Json(Sha256OfFile(path / kTensorFile)) ==
      run.identity.data_digests.value(kInitDigest, Json()))
    return base;
  throw Error(ErrorKind::kInput,
              fmt::format("the weights in '{}' are not those that the adapter was trained on; name "
                          "the model that it is for with --model",
                          path.string()));
}

// Completes what the adapter makes of its base, as a model, and saves of it what is the adapter's.
void ExportAdapter(const ExportedRun& run, const std::shared_ptr<const Model>& base, Model own,
                   const fs::path& output) {
  const auto number = [&](const char* name) {
    return MemberOf<double>(run.identity.options.at("adapter"), name, run.where);
  };
  auto adapter = std::make_shared<Adapter>();
  AdapterFacts& facts = adapter->facts;
  facts = {.base_sha256 = run.identity.data_digests.value(kInitDigest, ""),
           .rank = static_cast<int64_t>(number("rank")),
           .alpha = number("alpha"),
           .head = HasOwnHead(base->config, own.config),
           .matrices = MatricesOf(own.tensors)};
  adapter->model = std::move(own);
  const std::shared_ptr<Model> merged = MergeAdapter(base, adapter, run.where);
  FindTask(merged->config.task).complete_model(run, merged.get());
  adapter->model.tokenization = merged->tokenization;
  adapter->model.training_text = merged->training_text;
  adapter->model.samples = merged->samples;
  SaveAdapter(*adapter, output);
}

}  // namespace

std::vector<int64_t> ExportCheckpoints(const std::vector<fs::path>& checkpoints,
                                       const ExportTarget& target, const Log& log) {
  CheckReplaceable(target.output);
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
  const RunIdentity identity = RunOf(last.state, where);
  const ExportedRun run{identity, last.directory, where};

  Model model;
  model.config = ModelConfigOf(identity.model, where);
  model.tensors = weights;
  model.provenance = ProvenanceOf(last, stored, identity);
  const std::vector<int64_t> updates = model.provenance.at("averaged_updates");
  if (TrainsAdapter(identity)) {
    ExportAdapter(run, BaseOf(run, target.base), std::move(model), target.output);
  } else {
    FindTask(model.config.task).complete_model(run, &model);
    SaveModel(model, target.output);
  }
  log(LogLevel::kInfo, fmt::format("wrote {} (average of {} checkpoint{})", target.output.string(),
                                   stored.size(), stored.size() == 1 ? "" : "s"));
  return updates;
}

}  // namespace attend
