// What a run needs before its first update: its options made whole, its model, its data.
#ifndef ATTEND_TRAIN_SET_UP_H_
#define ATTEND_TRAIN_SET_UP_H_

#include <memory>

#include "attend/nn/torch.h"
#include "base/log.h"
#include "model/model_directory.h"
#include "train/checkpoint/train_state.h"
#include "train/distributed/process_group.h"
#include "train/loop/task.h"
#include "train/run_settings.h"
#include "train/train_options.h"

namespace attend {

// What a task is set up with, on each rank.
struct TaskSetup {
  TrainOptions* options;  // checked; the task makes its own and the model's whole
  const RunSettings* settings;
  ProcessGroup* group;
  torch::Device device;
  std::shared_ptr<const Model> init;  // to fine-tune, or null
  bool goes_on;                       // from a checkpoint in the output directory
  Log log;                            // silent on all ranks but the first
};

struct Setup {
  TrainOptions options;
  std::unique_ptr<TrainingTask> task;
  RunIdentity identity;
};

// All ranks call it together. Rank 0 alone tells what is so for every rank; the first rank of a
// machine what is so for the machine. Throws Error.
Setup SetUp(TrainOptions options, const RunSettings& settings, ProcessGroup* group);

}  // namespace attend

#endif  // ATTEND_TRAIN_SET_UP_H_
