// One call from options to a trained model directory: what `attend train` does.
#ifndef ATTEND_TRAIN_RUN_H_
#define ATTEND_TRAIN_RUN_H_

#include <filesystem>
#include <string>

#include "base/json.h"
#include "train/loop/trainer_effects.h"
#include "train/loop/training_speed.h"
#include "train/run_settings.h"
#include "train/train_options.h"

namespace attend {

struct RunResult {
  TrainOutcome outcome;
  std::filesystem::path model = {};    // empty where training was interrupted, and not on rank 0
  std::filesystem::path adapter = {};  // of `model`, where an adapter was trained
  Json scores = {};                    // of the test set; null without one
};

// Trains in `options.output`, which it locks, going on from a checkpoint there; then exports
// DIR/model, or DIR/adapter, and scores the test set. File names in `options` are complete. Of
// several processes each makes this call; rank 0 alone uses `options.output` and tells about
// progress. Call once in a process: it sets LibTorch's threads. Throws Error.
RunResult Train(TrainOptions options, RunSettings settings);

// What training would do in one process, from an epoch of its batches (`data_tokens_per_s`: target
// tokens a second that the worker threads make; text in memory is cut into pieces before) and a few
// updates that are thrown away; writes nothing.
Json DryRun(TrainOptions options, RunSettings settings);

// The speed of `updates` updates with their data already loaded, and of the device's products in
// the precision of training. Writes nothing.
struct TrainingRate {
  ModelConfig model;
  TrainingSpeed speed;
  double product_rate = 0;  // operations a second, of all threads
  double peak_flops = 0;    // as ProgressReport's
};
TrainingRate MeasureTraining(TrainOptions options, const RunSettings& settings, int64_t updates);

}  // namespace attend

#endif  // ATTEND_TRAIN_RUN_H_
