#include "train/run.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "attend/error.h"
#include "base/failure.h"
#include "base/files.h"
#include "model/adapted_model.h"
#include "model/directory_writer.h"
#include "train/checkpoint/checkpoint_store.h"
#include "train/checkpoint/output_lock.h"
#include "train/device/device.h"
#include "train/device/gpu.h"
#include "train/export.h"
#include "train/loop/divergence.h"
#include "train/loop/learner.h"
#include "train/loop/speed.h"
#include "train/loop/trainer.h"
#include "train/set_up.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

// Of work that shows nothing else: says every ten seconds how far it is.
class Progress {
 public:
  Progress(Log log, std::function<double()> now)
      : log_(std::move(log)), now_(std::move(now)), told_(now_()) {}
  void Tell(const std::string& message) {
    constexpr double kSecondsBetween = 10;
    const double time = now_();
    if (time - told_ < kSecondsBetween) return;
    told_ = time;
    log_(LogLevel::kInfo, message);
  }

 private:
  Log log_;
  std::function<double()> now_;
  double told_;
};

void DescribeData(const Setup& setup, const Log& log) {
  setup.task->Describe(log);
  const RunOptions& run = setup.options.run;
  const OptimizationOptions& optimization = setup.options.optimization;
  if (optimization.schedule != nn::ScheduleKind::kNoam &&
      optimization.warmup_updates >= run.max_updates) {
    log(LogLevel::kWarning,
        fmt::format("the learning rate only rises: warmup_updates is {}, and training ends after "
                    "max_updates ({})",
                    optimization.warmup_updates, run.max_updates));
  }
  if (!setup.task->CanValidate() || run.validate_every <= run.max_updates) return;
  log(LogLevel::kWarning,
      fmt::format("no validation will take place: validate_every is {}, and training ends after "
                  "max_updates ({})",
                  run.validate_every, run.max_updates));
}

struct EpochSize {
  int64_t batches = 0, targets = 0;
  CorpusReport text;   // that was read as it went
  double seconds = 0;  // to make its batches, with nothing that trains on them
};

EpochSize MeasureEpoch(const TrainingTask& task, const BatchOptions& batching,
                       const std::function<double()>& now) {
  EpochSize size;
  const double begin = now();
  Progress progress(batching.log, now);
  BatchStream batches(&task.examples(), batching);
  while (batches.position().epoch == 0) {
    const Batch batch = batches.Next();
    size.targets += task.CountTargets(batch.examples());
    ++size.batches;
    progress.Tell(fmt::format("an epoch, so far: {} {}s", size.targets, task.info().target));
  }
  size.text = batches.ended_epoch();
  size.seconds = std::max(now() - begin, 1e-9);
  return size;
}

UpdateMode ModeOf(const RunSettings& settings) {
  const bool cpu = settings.device == "cpu";
  return {.threads = cpu ? settings.threads : 1, .deferred = !cpu, .now = settings.effects.now};
}

// Of all processes' devices; 0: not known.
double PeakFlops(const TrainOptions& options, const RunSettings& settings) {
  const bool known_gpu = settings.device != "cpu" && options.optimization.Bf16Products();
  const double known = known_gpu ? Bf16Peak(GpuName()) : 0;
  return static_cast<double>(settings.world.size) *
         (options.peak_flops > 0 ? options.peak_flops : known);
}

int64_t PeakMemoryMib() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

// "test: F1 91.7565, precision 94.0378", of what Test gave. Counts of nothing are left out.
std::string TestSummary(const std::vector<Figure>& figures, const Json& scores) {
  std::string summary;
  for (const Figure& figure : figures) {
    Json found = scores.value(figure.name, Json());
    const bool rounded = found.is_object();  // with its signature
    if (rounded) found = found.value("score", Json());
    if (!found.is_number() || (found.is_number_integer() && found == 0)) continue;
    const std::string value = rounded || found.is_number_integer()
                                  ? found.dump()
                                  : fmt::format("{:.4f}", found.get<double>());
    summary += fmt::format("{} {} {}", summary.empty() ? "test:" : ",", figure.label, value);
  }
  return summary;
}

// On ranks but the first: takes part in training, and leaves files and messages to rank 0.
RunResult RunOtherRank(TrainOptions given, const RunSettings& settings,
                       const std::shared_ptr<ProcessGroup>& group) {
  const Setup setup = SetUp(std::move(given), settings, group.get());
  TrainerEffects silent = settings.effects;
  silent.log = NoLog();
  Trainer trainer(setup.task.get(), setup.options, setup.identity, silent, ModeOf(settings), group);
  settings.hold_stop(true);
  group->EndSetUp();
  RunResult result{.outcome = trainer.Run()};
  group->Leave();
  return result;
}

fs::path ExportedTo(const TrainOptions& options) {
  return fs::path(options.output) / (options.adapter.any() ? "adapter" : "model");
}

// Writes what the run made: a model, or an adapter of the one that it began with.
void Export(const std::vector<fs::path>& averaged, const TrainOptions& options, const Log& log,
            RunResult* result) {
  const bool adapts = options.adapter.any();
  const fs::path exported = ExportedTo(options);
  if (averaged.empty()) {
    throw Error(ErrorKind::kConfiguration,
                fmt::format("average_best has no checkpoint to average: no validation gave a "
                            "number before the end; `attend export --checkpoint {} --output {}` "
                            "makes {} of the last one",
                            options.output, exported.string(), adapts ? "an adapter" : "a model"));
  }
  result->model = adapts ? fs::path(options.init) : exported;
  if (adapts) result->adapter = exported;
  ExportCheckpoints(averaged, {exported, adapts ? result->model : fs::path()}, log);
}

RunResult RunFirstRank(TrainOptions given, const RunSettings& settings,
                       const std::shared_ptr<ProcessGroup>& group) {
  const fs::path directory = given.output;
  OutputLock lock(directory);
  CheckReplaceable(ExportedTo(given));
  const Log& log = settings.effects.log;
  if (!group->alone()) log(LogLevel::kInfo, fmt::format("training in {} processes", group->size()));
  Setup setup = SetUp(std::move(given), settings, group.get());
  DescribeData(setup, log);
  // A run that goes on was told.
  if (CheckpointStore(directory / "checkpoints").Updates().empty()) setup.task->CheckData(log);
  lock.LockFile();
  TrainerEffects effects = settings.effects;
  effects.peak_flops = PeakFlops(setup.options, settings);
  Trainer trainer(setup.task.get(), setup.options, setup.identity, effects, ModeOf(settings),
                  group);
  // Not before the trainer knows that these are the run's: a checkpoint needs its own.
  setup.task->SaveFiles(directory);
  WriteFileAtomically(directory / "config.toml", RecipeToml(setup.options));
  settings.hold_stop(true);
  group->EndSetUp();
  RunResult result{.outcome = trainer.Run()};
  group->Leave();
  if (!result.outcome.finished) return result;
  settings.hold_stop(false);
  log(LogLevel::kInfo, fmt::format("training is over: {}", result.outcome.reason));
  const std::string divergence = DivergenceIn(directory / "metrics.jsonl", setup.task->Choices());
  if (!divergence.empty()) log(LogLevel::kWarning, divergence);
  torch::set_num_threads(settings.threads);  // as in `attend export`, for the same bits
  Export(trainer.AveragedDirectories(), setup.options, log, &result);
  trainer.WriteReport();
  Progress progress(log, settings.effects.now);
  result.scores = setup.task->Test({LoadModelWith(result.model, result.adapter.string()), directory,
                                    [&](const std::string& done) { progress.Tell(done); }});
  trainer.LogEnd(result.scores);
  if (result.scores.is_null()) return result;
  WriteFileAtomically(directory / "result.json", result.scores.dump() + "\n");
  log(LogLevel::kInfo, TestSummary(setup.task->info().test, result.scores));
  trainer.WriteReport(result.scores);
  return result;
}

}  // namespace

RunResult Train(TrainOptions options, RunSettings settings) {
  const Log& log = settings.effects.log;
  const ProcessGroup::Ends ends{settings.abandon, settings.effects.stop_requested,
                                settings.hold_stop};
  const auto group = std::make_shared<ProcessGroup>(settings.world, ends, log);
  try {
    CheckTrainOptions(options);
    group->Meet(log);
    settings.world = group->world();
    if (settings.share_threads) settings.threads = ShareOfThreads(settings.threads, settings.world);
    group->Connect(DeviceOf(settings.device, settings.world));
    return (group->first() ? RunFirstRank : RunOtherRank)(std::move(options), settings, group);
  } catch (const std::exception& error) {
    group->Fail(MessageOf(error));
    throw;
  }
}

Json DryRun(TrainOptions given, RunSettings settings) {
  given.output.clear();
  settings.world = {};
  ProcessGroup alone;
  const Setup setup = SetUp(std::move(given), settings, &alone);
  DescribeData(setup, settings.effects.log);
  const TrainOptions& options = setup.options;
  const Json texts = setup.task->CheckData(settings.effects.log);
  const BatchOptions batching = BatchingOf(options, settings.effects.log);
  const EpochSize epoch = MeasureEpoch(*setup.task, batching, settings.effects.now);
  const auto epoch_targets = static_cast<double>(epoch.targets);
  const double updates_in_epoch =
      static_cast<double>(epoch.batches) / static_cast<double>(options.optimization.accumulate);
  BatchStream batches(&setup.task->examples(), BatchingOf(options, NoLog()));
  Learner learner(setup.task.get(), options.optimization, ModeOf(settings));
  const int64_t accumulate = options.optimization.accumulate;
  const SpeedPlan measure{
      .warm_up = 1, .updates = std::max<int64_t>(6 / accumulate, 1), .accumulate = accumulate};
  const double speed =
      MeasureUpdates(measure, setup.task.get(), &learner, &batches, settings.effects.now)
          .target_tokens_per_s();
  double total = epoch_targets * static_cast<double>(options.run.max_updates) / updates_in_epoch;
  if (options.run.max_epochs > 0)
    total = std::min(total, static_cast<double>(options.run.max_epochs) * epoch_targets);
  if (options.run.max_target_tokens > 0)
    total = std::min(total, static_cast<double>(options.run.max_target_tokens));
  Json plan = setup.task->Plan(epoch.text);
  plan["texts"] = texts;
  plan["parameters"] = ParameterCount(options.model);
  plan["trained_parameters"] = CountParameters(setup.task->module(), /*trained=*/true);
  plan["updates_in_epoch"] = updates_in_epoch;
  plan["target_tokens_in_epoch"] = epoch.targets;
  plan["target_tokens"] = total;
  const double data_speed = epoch_targets / epoch.seconds;
  plan["data_tokens_per_s"] = data_speed;
  plan["target_tokens_per_s"] = speed;
  plan["hours"] = total / std::min(speed, data_speed) / 3600;
  plan["memory_mib"] = PeakMemoryMib();
  return plan;
}

TrainingRate MeasureTraining(TrainOptions given, const RunSettings& settings, int64_t updates) {
  constexpr int64_t kWarmUp = 5;
  ProcessGroup alone;
  const Setup setup = SetUp(std::move(given), settings, &alone);
  DescribeData(setup, settings.effects.log);
  BatchStream batches(&setup.task->examples(), BatchingOf(setup.options, settings.effects.log));
  const UpdateMode mode = ModeOf(settings);
  Learner learner(setup.task.get(), setup.options.optimization, mode);
  const std::function<double()>& now = settings.effects.now;
  const auto of_products =
      torch::TensorOptions(DeviceOf(settings.device, settings.world))
          .dtype(setup.options.optimization.Bf16Products() ? torch::kBFloat16 : torch::kFloat32);
  return {setup.options.model,
          MeasureUpdates({.warm_up = kWarmUp, .updates = updates}, setup.task.get(), &learner,
                         &batches, now),
          MeasureProductRate(mode.threads, of_products, now), PeakFlops(setup.options, settings)};
}

}  // namespace attend
