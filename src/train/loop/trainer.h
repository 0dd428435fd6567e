// The training loop: update, validate, save, stop; exact resume.
//
// Given equal options, data, model and surroundings, a run that is killed at any instant and
// started again ends in the same bits as one that is not: what a decision depends on is in
// TrainState and the tensors beside it, and random choices are keyed by (seed, update, place).
// Knows tasks, not translation.
#ifndef ATTEND_TRAIN_LOOP_TRAINER_H_
#define ATTEND_TRAIN_LOOP_TRAINER_H_

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attend/nn/torch.h"
#include "base/json.h"
#include "base/log.h"
#include "train/checkpoint/checkpoint_store.h"
#include "train/checkpoint/train_state.h"
#include "train/loop/learner.h"
#include "train/loop/task.h"
#include "train/loop/trainer_effects.h"
#include "train/loop/transfer.h"
#include "train/train_options.h"

namespace attend {

class TrainingLogs;

class Trainer {
 public:
  // Finds the newest checkpoint in DIR/checkpoints and goes on from it, else starts from the module
  // as it stands. `task` must outlive the trainer. Throws Error(kConfiguration) where the
  // checkpoint is of another run. Rank 0 alone validates, reads and writes files.
  Trainer(TrainingTask* task, const TrainOptions& options, RunIdentity identity,
          TrainerEffects effects, const UpdateMode& mode,
          std::shared_ptr<ProcessGroup> group = std::make_shared<ProcessGroup>());
  ~Trainer();

  // Once. Tells the group's other ranks what it throws.
  TrainOutcome Run();

  const TrainState& state() const { return state_; }
  // The directories of the checkpoints that the options average into the model. Call after Run, on
  // rank 0.
  std::vector<std::filesystem::path> AveragedDirectories() const;
  // Logs that the finished run was tested, or has no test set. Call after Run, on rank 0.
  void LogEnd(const Json& scores);
  // Writes DIR/report.html, with the test set's scores once there are some.
  void WriteReport(const Json& test = Json()) const;

 private:
  void Resume();
  void LoadTensors(const StoredCheckpoint& checkpoint);
  void CheckIdentity(const StoredCheckpoint& checkpoint);
  TrainOutcome RunUpdates();
  GlobalBatch NextBatch();
  void Update(GlobalBatch batch);
  void ReadOutcome();
  // What each rank did since the last report, on rank 0, where one is due; every rank calls it.
  std::vector<RankWork> GatherWork();
  void Skip(const GlobalBatch& batch, const LossAndNorm& found);
  bool ValidateIfDue();
  double Validate(const torch::Tensor& average);
  void WriteCheckpoint();
  bool StopRequested();
  double LearningRateOf(int64_t update) const;

  TrainingTask* task_;
  TrainOptions options_;
  RunIdentity identity_;
  TrainerEffects effects_;
  std::shared_ptr<ProcessGroup> group_;
  CheckpointStore store_;
  Learner learner_;
  TrainState state_;
  // The last update, while what it found is not read: in deferred mode until the next one is on its
  // way, or until something depends on it.
  struct OpenUpdate {
    GlobalBatch batch;
    UpdateOutcome outcome;
    double learning_rate;
  };
  std::optional<OpenUpdate> open_;
  double data_seconds_ = 0;  // that this rank waited for batches since the last report
  std::optional<Download> asked_to_stop_;  // how many ranks were, after the last update
  int64_t saved_update_ = -1;              // of the newest checkpoint, if it was a scheduled one
  std::unique_ptr<BatchStream> batches_;
  std::unique_ptr<TrainingLogs> logs_;  // on rank 0
};

}  // namespace attend

#endif  // ATTEND_TRAIN_LOOP_TRAINER_H_
