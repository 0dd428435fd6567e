// Where a run stands, beside its tensors: what the loop's decisions depend on and nothing else.
#ifndef ATTEND_TRAIN_CHECKPOINT_TRAIN_STATE_H_
#define ATTEND_TRAIN_CHECKPOINT_TRAIN_STATE_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "attend/model_config.h"
#include "base/json.h"
#include "data/batch_stream.h"
#include "train/train_options.h"

namespace attend {

struct BestCheckpoint {
  int64_t update = 0;
  double metric = 0;
};

// Plain values; equal states lead to equal futures.
struct TrainState {
  int64_t update = 0;      // done so far, skipped ones counted
  int64_t adam_steps = 0;  // those that changed weights
  int64_t target_tokens = 0;
  int64_t skipped_updates = 0;
  int64_t bad_in_a_row = 0;
  DataPosition data;
  std::vector<int64_t> recent;       // updates of scheduled checkpoints, oldest first
  std::vector<BestCheckpoint> best;  // best first
  std::optional<double> best_metric;
  int64_t validations_without_better = 0;
  Json changes = Json::array();  // options and surroundings that were changed on the way
};

Json ToJson(const TrainState& state);
// Throws Error(kInput) opening with `file` for a member that is missing or of another type.
TrainState TrainStateFromJson(const Json& json, const std::string& file);

// The name that the weights a run was fine-tuned from have among its data_digests.
inline constexpr const char* kInitDigest = "init";
// The member of RunIdentity::task that is the path of the model whose adapter a run trains.
inline constexpr const char* kBasePath = "base";

// What makes a run this run, kept in every checkpoint; objects all.
struct RunIdentity {
  Json options;       // RecordedFields
  Json model;         // ModelConfig, or what else a task's model is given by
  Json data_digests;  // file name: SHA-256
  Json environment;   // DescribeEnvironment
  Json task;          // what the task's export needs; never compared
};

Json ToJson(const RunIdentity& run);
// It trains an adapter: its checkpoints hold no weights of the model.
bool TrainsAdapter(const RunIdentity& run);
// Of a checkpoint's state, which has the run as its member `run`. Throws Error(kInput) opening with
// `where` for anything else.
RunIdentity RunOf(const Json& state, const std::string& where);
// Of the member `model` of a Transformer's run. Throws Error(kInput) opening with `where`.
ModelConfig ModelConfigOf(const Json& model, const std::string& where);

// What sets `now`, which would go on from `before`, apart from it; no surroundings.
RunChanges CompareRuns(const RunIdentity& before, const RunIdentity& now);

// A value of the metric that decides.
struct Measurement {
  double value = 0;
  bool high_is_better = false;
};
// Takes a validation into account. Returns whether the present update is among the best
// that are to be kept.
bool RecordValidation(const RunOptions& options, const Measurement& measured, TrainState* state);

// Takes the present update's scheduled checkpoint into account.
void RecordCheckpoint(const RunOptions& options, TrainState* state);

// Updates whose checkpoints are needed to go on, and whose weights are needed at the end.
std::set<int64_t> WholeCheckpoints(const RunOptions& options, const TrainState& state);
std::set<int64_t> WeightCheckpoints(const RunOptions& options, const TrainState& state);

// Updates whose average is the model.
std::vector<int64_t> AveragedCheckpoints(const RunOptions& options, const TrainState& state);

// Why training is over ("max_updates reached"), or "" where it isn't.
std::string StopReason(const RunOptions& options, const TrainState& state);

}  // namespace attend

#endif  // ATTEND_TRAIN_CHECKPOINT_TRAIN_STATE_H_
