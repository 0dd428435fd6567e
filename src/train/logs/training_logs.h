// Everything a run writes for people and their tools: metrics.jsonl, timing.jsonl,
// samples.jsonl, TensorBoard events, progress and report.html. Nothing of it is read back by a
// decision.
#ifndef ATTEND_TRAIN_LOGS_TRAINING_LOGS_H_
#define ATTEND_TRAIN_LOGS_TRAINING_LOGS_H_

#include <filesystem>
#include <functional>
#include <vector>

#include "base/json.h"
#include "train/checkpoint/train_state.h"
#include "train/logs/metrics_log.h"
#include "train/logs/tensorboard.h"
#include "train/loop/rank_work.h"
#include "train/loop/task.h"
#include "train/loop/trainer_effects.h"

namespace attend {

// One update, as it is logged. Loss and norm are not finite where it was skipped.
struct UpdateRecord {
  double loss = 0;  // a target's
  double gradient_norm = 0;
  double learning_rate = 0;
  int64_t targets = 0;
  double operations = 0;  // as TrainingTask::Work counts them
  bool skipped = false;
  std::vector<RankWork> ranks;  // of several, since the last report where one is due now
};

// One owner. Throws Error(kRuntime) where a file can't be written.
class TrainingLogs {
 public:
  // Cuts what is in `directory` back to the update of `state`. `recorded`: all options of the run.
  TrainingLogs(const std::filesystem::path& directory, const RunOptions& options,
               const Json& recorded, const TrainState& state, TrainerEffects effects);

  void LogUpdate(const TrainState& state, const UpdateRecord& record);
  void LogValidation(const TrainState& state, const ValidationResult& result);
  // The run is over. `scores`: of the test set as RunResult has them, null where there is none.
  void LogEnd(const TrainState& state, const Json& scores);
  // Makes all that is logged durable; before a checkpoint is written.
  void Sync();

 private:
  void Report(const TrainState& state, const std::vector<RankWork>& ranks);
  void StartWindow(double now);

  RunOptions options_;
  TrainerEffects effects_;
  MetricsLog metrics_, timing_, samples_;
  TensorBoardWriter tensorboard_;
  double window_start_;  // of the updates since the last report
  double window_loss_ = 0;
  int64_t window_targets_ = 0;
  double window_operations_ = 0;
  int64_t window_updates_ = 0;
  double learning_rate_ = 0;
};

}  // namespace attend

#endif  // ATTEND_TRAIN_LOGS_TRAINING_LOGS_H_
