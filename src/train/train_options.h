// The options of every training run, declared once: what to train, how, and when to stop. What to
// train on is the task's to say.
//
// Plain values; Fields() gives names, ranges and help to the command line, TOML, JSON and
// documents.
#ifndef ATTEND_TRAIN_TRAIN_OPTIONS_H_
#define ATTEND_TRAIN_TRAIN_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "attend/model_config.h"
#include "attend/nn/adapter_shape.h"
#include "attend/nn/schedule.h"
#include "attend/nn/smoothing_mass.h"
#include "base/fields.h"
#include "base/json.h"
#include "data/batch_stream.h"
#include "train/task_options.h"

namespace attend {

// Of matrix products; weights, sums, norms and losses are f32.
enum class Precision { kF32, kBf16 };

// The loss, the optimiser and its schedule, and how much goes into an update.
struct OptimizationOptions {
  double dropout = 0.1;
  double attention_dropout = 0;
  double activation_dropout = 0;
  double label_smoothing = 0.1;
  nn::SmoothingMass label_smoothing_mass = nn::SmoothingMass::kAllClasses;
  double r_drop = 0;
  int64_t batch_tokens = 4096;
  int64_t max_sentences = 0;
  int64_t accumulate = 1;
  nn::ScheduleKind schedule = nn::ScheduleKind::kNoam;
  double peak_learning_rate = 0;
  double end_learning_rate = 0;
  double noam_scale = 1;
  int64_t warmup_updates = 4000;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.98;
  double adam_epsilon = 1e-9;
  double weight_decay = 0;
  double clip_norm = 0;
  double ema_decay = 0;
  bool shard_optimizer = false;
  Precision precision = Precision::kF32;
  int64_t max_bad_updates = 10;

  bool Bf16Products() const { return precision == Precision::kBf16; }
};

// When to validate, to save and to stop.
struct RunOptions {
  int64_t max_updates = 100000;
  int64_t max_epochs = 0;
  int64_t max_target_tokens = 0;
  int64_t validate_every = 1000;
  int64_t checkpoint_every = 1000;
  int64_t report_every = 50;
  int64_t keep_last = 2;
  int64_t keep_best = 1;
  std::string early_stopping_metric = "loss";  // of TaskInfo::validation
  int64_t early_stopping_patience = 0;
  int64_t average_last = 1;
  int64_t average_best = 0;
  int64_t worker_threads = 1;
};

struct TrainOptions {
  // A task's, with their defaults, and those of the preset's stacks that its models have; without
  // a preset, of the one that the task names. Throws
  // Error(kConfiguration) for an unknown task or preset, and a preset that lacks a stack.
  explicit TrainOptions(const std::string& task = ModelConfig().task,
                        const std::string& given = "");

  std::string preset;
  ModelConfig model;  // whose task this is
  AnyTaskOptions task;
  nn::AdapterShape adapter;  // that is trained, in place of the model
  OptimizationOptions optimization;
  RunOptions run;
  int64_t seed = 1;
  std::string output;
  std::string init;
  bool dry_run = false;
  double peak_flops = 0;
};

// Of `peak_flops`.
inline constexpr const char* kPeakFlopsHelp =
    "peak floating-point operations a second of the device; progress lines show the share of it; "
    "0: the known bf16 peak of the GPU";

FieldList Fields(TrainOptions& options);
// What a run keeps of them, in its configuration and checkpoints.
FieldList RecordedFields(TrainOptions& options);

// A recipe that sets the recorded options and `init` to their present values, for --config. Those
// that are not set are left out.
std::string RecipeToml(TrainOptions& options);

// An option that does something only with another.
struct DependentOption {
  std::string name;
  bool counts = false;
  std::string needs;  // that other, for people
};
// Throws Error(kConfiguration) for one that does not count and has another value than by default.
void CheckDependents(TrainOptions options, const std::vector<DependentOption>& dependents);

// Throws Error(kConfiguration) for what the architecture has not, which may be known only when the
// model to fine-tune is.
void CheckArchitecture(const TrainOptions& options);

// Throws Error(kConfiguration) naming options that contradict each other or are missing.
void CheckTrainOptions(const TrainOptions& options);

// How batches are made; `log` gets what filters dropped in each epoch that reads its text.
BatchOptions BatchingOf(const TrainOptions& options, const Log& log);

// An option that two runs do not share; values as JSON text.
struct OptionDifference {
  std::string name, before, now;
  bool identity = false;  // has the trait kIdentity
};
// What an older program recorded, which lacked some options: it did what their defaults are. Nested
// options that it has none of stay away.
Json WithDefaults(const Json& recorded, const Json& defaults);

// Both are RecordedFields as JSON; of the options that `now` has. Paths are not compared: digests
// of what they name are.
std::vector<OptionDifference> DifferentOptions(const Json& before, const Json& now);

// What going on with other options or data than a run was started with means.
struct RunChanges {
  std::vector<std::string> forbidden;  // would make another run: "seed was 1, now 2"
  std::vector<std::string> applied;    // allowed, to be reported and recorded
};
// Arguments as DifferentOptions'; `before` is of the start of the run, with the defaults of what an
// older program lacked.
RunChanges CompareOptions(const Json& before, const Json& now);

}  // namespace attend

#endif  // ATTEND_TRAIN_TRAIN_OPTIONS_H_
