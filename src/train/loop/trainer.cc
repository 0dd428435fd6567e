#include "train/loop/trainer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "attend/error.h"
#include "attend/nn/schedule.h"
#include "base/failure.h"
#include "base/random.h"
#include "model/safetensors.h"
#include "train/device/environment.h"
#include "train/logs/report.h"
#include "train/logs/training_logs.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

bool HighIsBetter(const TaskInfo& task, const RunOptions& options) {
  const auto figure =
      std::ranges::find(task.validation, options.early_stopping_metric, &Figure::name);
  return figure != task.validation.end() && figure->high_is_better;
}

bool IsCount(double value) { return value > 0 && value == std::floor(value); }

std::string LinesOf(const std::vector<Batch>& batches, const ExampleSource& source) {
  constexpr size_t kShown = 8;
  std::vector<std::string> lines;
  size_t count = 0;
  for (const Batch& batch : batches) {
    count += batch.rows.size();
    for (const Example example : batch.examples()) {
      if (lines.size() < kShown) lines.push_back(source.Where(example.origin()));
    }
  }
  return fmt::format("{}{}", fmt::join(lines, ", "),
                     count > kShown ? fmt::format(" and {} more", count - kShown) : "");
}

}  // namespace

Trainer::Trainer(TrainingTask* task, const TrainOptions& options, RunIdentity identity,
                 TrainerEffects effects, const UpdateMode& mode,
                 std::shared_ptr<ProcessGroup> group)
    : task_(task),
      options_(options),
      identity_(std::move(identity)),
      effects_(std::move(effects)),
      group_(std::move(group)),
      store_(fs::path(options.output) / "checkpoints"),
      learner_(task, options.optimization, mode, group_) {
  Resume();
  if (options_.optimization.shard_optimizer && !group_->alone()) {
    effects_.log(
        LogLevel::kInfo,
        fmt::format("the optimiser's state is shared by {} processes, {:.3f} MB in this",
                    group_->size(), static_cast<double>(learner_.optimizer_bytes()) / 1e6));
  }
  BatchOptions batching = BatchingOf(options_, effects_.log);
  batching.peers = {group_->rank(), group_->size(),
                    [group = group_](const std::string& part) { return group->BeginGather(part); }};
  batches_ = std::make_unique<BatchStream>(&task_->examples(), batching, state_.data);
  if (group_->first())
    logs_ = std::make_unique<TrainingLogs>(options_.output, options_.run, identity_.options, state_,
                                           effects_);
}

Trainer::~Trainer() = default;

void Trainer::CheckIdentity(const StoredCheckpoint& checkpoint) {
  const RunIdentity before = RunOf(checkpoint.state, checkpoint.directory.string());
  const RunChanges found = CompareRuns(before, identity_);
  if (!found.forbidden.empty()) {
    throw Error(
        ErrorKind::kConfiguration,
        fmt::format("can't go on from '{}': {}; put it back as it was or choose another output",
                    checkpoint.directory.string(), fmt::join(found.forbidden, "; ")));
  }
  // Of a run that goes on without it: it is needed no more, and stays known.
  if (before.data_digests.contains(kInitDigest))
    identity_.data_digests[kInitDigest] = before.data_digests[kInitDigest];
  Json changes = Json::array();
  for (const std::string& change : found.applied) {
    effects_.log(LogLevel::kWarning, fmt::format("going on with another option: {}", change));
    changes.push_back(change);
  }
  for (const std::string& change : CompareEnvironments(before.environment, identity_.environment)) {
    effects_.log(LogLevel::kWarning,
                 fmt::format("results may differ from an unbroken run: {}", change));
    changes.push_back(change);
  }
  if (!changes.empty()) state_.changes.push_back({{"update", state_.update}, {"changes", changes}});
  // Best by another metric says nothing.
  const char* const metric = "early_stopping_metric";
  if (before.options.value(metric, Json()) != identity_.options.at(metric)) {
    state_.best.clear();
    state_.best_metric.reset();
    state_.validations_without_better = 0;
  }
}

void Trainer::Resume() {
  std::optional<StoredCheckpoint> checkpoint;
  Json shared;  // null where a run begins
  if (group_->first()) {
    store_.Prepare();
    checkpoint = store_.FindNewest(effects_.log);
  }
  if (checkpoint) {
    state_ = TrainStateFromJson(checkpoint->state, (checkpoint->directory / kStateFile).string());
    CheckIdentity(*checkpoint);
    shared = ToJson(state_);
  }
  shared = ParseJson(group_->FromFirst(shared.dump()), "the state on rank 0");
  if (shared.is_null()) {
    // Another processor's initial weights may differ in their last bits.
    using Buffer = Learner::Buffer;
    learner_.Load(Buffer::kWeights, [](torch::Tensor*) {});
    learner_.Load(Buffer::kAverage,
                  [&](torch::Tensor* whole) { whole->copy_(learner_.parameters().weights()); });
    return;
  }
  state_ = TrainStateFromJson(shared, "the state on rank 0");
  LoadTensors(checkpoint.value_or(StoredCheckpoint{}));
  if (!state_.recent.empty() && state_.recent.back() == state_.update)
    saved_update_ = state_.update;
  if (checkpoint) {
    effects_.log(LogLevel::kInfo, fmt::format("going on from update {} ({})", state_.update,
                                              checkpoint->directory.string()));
  }
}

void Trainer::LoadTensors(const StoredCheckpoint& checkpoint) {
  using Buffer = Learner::Buffer;
  const auto load = [&](Buffer buffer, const char* file, const std::string& prefix = "") {
    learner_.Load(buffer, [&](torch::Tensor* whole) {
      const TensorTable stored = LoadSafetensors(checkpoint.directory / file);
      learner_.parameters().layout().Read(stored, prefix, whole);
    });
  };
  load(Buffer::kWeights, kWeightsFile);
  load(Buffer::kFirstMoment, kOptimizerFile, "first_moment.");
  load(Buffer::kSecondMoment, kOptimizerFile, "second_moment.");
  const bool had_average = fs::exists(checkpoint.directory / kAverageFile);
  load(Buffer::kAverage, had_average ? kAverageFile : kWeightsFile);
}

TrainOutcome Trainer::Run() {
  try {
    TrainOutcome outcome = RunUpdates();
    batches_.reset();  // whose workers may wait for other ranks
    return outcome;
  } catch (const std::exception& error) {
    group_->Fail(MessageOf(error));  // first, for the same reason
    throw;
  }
}

TrainOutcome Trainer::RunUpdates() {
  task_->module().train();
  std::string reason;
  while ((reason = StopReason(options_.run, state_)).empty()) {
    GlobalBatch batch = NextBatch();
    const int64_t budget = options_.run.max_target_tokens;
    if (budget > 0 && state_.target_tokens + batch.targets > budget) {
      if (state_.update == 0) {
        throw Error(ErrorKind::kConfiguration,
                    fmt::format("max_target_tokens is {}, but the first update has {} targets: "
                                "nothing would be trained; give more, or make updates smaller by "
                                "batch_tokens and accumulate",
                                budget, batch.targets));
      }
      reason = fmt::format("max_target_tokens ({}) reached", budget);
      break;
    }
    Update(std::move(batch));
    const bool among_best = ValidateIfDue();
    const bool scheduled = state_.update % options_.run.checkpoint_every == 0;
    if (scheduled) RecordCheckpoint(options_.run, &state_);
    if (scheduled || among_best) WriteCheckpoint();
    // The end comes before a signal, so that the last checkpoint is the same with one and without.
    if (StopReason(options_.run, state_).empty() && StopRequested()) {
      if (!scheduled && !among_best) WriteCheckpoint();
      return {false, fmt::format("stopped after update {} by a signal", state_.update)};
    }
  }
  if (saved_update_ != state_.update) {
    RecordCheckpoint(options_.run, &state_);
    WriteCheckpoint();
  }
  return {true, reason};
}

// On any rank. In deferred mode the answer is the one after the update before, for which no GPU has
// to be waited for.
bool Trainer::StopRequested() {
  const torch::Tensor ranks = torch::full({1}, effects_.stop_requested() ? 1 : 0,
                                          learner_.parameters().weights().options());
  group_->BeginSum(ranks)();
  const std::optional<Download> before = std::exchange(asked_to_stop_, Download(ranks));
  const std::optional<Download>& answer = learner_.mode().deferred ? before : asked_to_stop_;
  return answer && answer->Wait().item<float>() > 0;
}

GlobalBatch Trainer::NextBatch() {
  GlobalBatch batch;
  for (int64_t i = 0; i < options_.optimization.accumulate; ++i) {
    // An update does not reach beyond the last epoch.
    if (i > 0 && options_.run.max_epochs > 0 &&
        batches_->position().epoch >= options_.run.max_epochs)
      break;
    const double asked = effects_.now();
    batch.batches.push_back(batches_->Next());
    data_seconds_ += effects_.now() - asked;
    batch.targets += task_->CountTargets(batch.batches.back().examples());
  }
  return batch;
}

double Trainer::LearningRateOf(int64_t update) const {
  const OptimizationOptions& options = options_.optimization;
  nn::ScheduleConfig schedule;
  schedule.kind = options.schedule;
  schedule.peak_learning_rate = options.peak_learning_rate;
  schedule.noam_scale = options.noam_scale;
  schedule.warmup_updates = options.warmup_updates;
  schedule.d_model =
      (options_.model.encoder ? options_.model.encoder : options_.model.decoder)->d_model;
  schedule.max_updates = options_.run.max_updates;
  schedule.end_learning_rate = options.end_learning_rate;
  return nn::LearningRate(schedule, update);
}

void Trainer::Update(GlobalBatch batch) {
  const int64_t update = state_.update + 1;
  Random random{static_cast<uint64_t>(options_.seed), static_cast<uint64_t>(update)};
  UpdateOutcome outcome = learner_.Backward(batch, random.Next());
  ReadOutcome();
  state_.update = update;
  state_.data = batches_->position();
  state_.target_tokens += batch.targets;
  open_ = OpenUpdate{std::move(batch), std::move(outcome), LearningRateOf(update)};
  learner_.Apply(open_->outcome, open_->learning_rate, state_.adam_steps + 1);
  if (!learner_.mode().deferred) ReadOutcome();
}

// Takes into account what the open update found, which nothing else in `state_` depends on.
void Trainer::ReadOutcome() {
  if (!open_) return;
  const OpenUpdate update = *std::exchange(open_, std::nullopt);
  const LossAndNorm found = learner_.Read(update.outcome);
  if (found.finite()) {
    state_.bad_in_a_row = 0;
    ++state_.adam_steps;
  } else {
    Skip(update.batch, found);
  }
  const std::vector<RankWork> ranks = GatherWork();
  if (!logs_) return;
  double operations = 0;
  for (const Batch& batch : update.batch.batches) {
    for (const Example example : batch.examples()) operations += task_->Work(example);
  }
  logs_->LogUpdate(state_, {found.loss, found.norm, update.learning_rate, update.batch.targets,
                            operations, !found.finite(), ranks});
}

std::vector<RankWork> Trainer::GatherWork() {
  if (group_->alone() || state_.update % options_.run.report_every != 0) return {};
  RankWork own = learner_.TakeWork();
  own.data_seconds = std::exchange(data_seconds_, 0);
  // A sum of rows of which each rank has one: fewer operations than a gathering of bytes.
  const torch::Tensor rows = torch::zeros({group_->size(), RankWork::kNumbers}, torch::kFloat64);
  std::memcpy(rows[group_->rank()].mutable_data_ptr(), &own, sizeof(own));
  group_->BeginSum(rows)();
  std::vector<RankWork> ranks(group_->first() ? group_->size() : 0);
  if (!ranks.empty()) std::memcpy(ranks.data(), rows.const_data_ptr(), rows.nbytes());
  return ranks;
}

void Trainer::Skip(const GlobalBatch& batch, const LossAndNorm& found) {
  ++state_.skipped_updates;
  ++state_.bad_in_a_row;
  const std::string what = fmt::format(
      "update {}: loss {}, gradient norm {}, first parameter with a gradient that is not finite: "
      "{}; corpus lines {}",
      state_.update, found.loss, found.norm,
      found.bad_parameter.empty() ? "none" : found.bad_parameter,
      LinesOf(batch.batches, task_->examples()));
  if (state_.bad_in_a_row >= options_.optimization.max_bad_updates) {
    throw Error(ErrorKind::kRuntime,
                fmt::format("{} updates in a row without a finite loss and gradient, expected "
                            "fewer than max_bad_updates; {}; the checkpoints "
                            "are as they were: try a lower peak_learning_rate, a longer "
                            "warmup_updates or clip_norm",
                            state_.bad_in_a_row, what));
  }
  effects_.log(LogLevel::kWarning, fmt::format("skipped {}", what));
}

bool Trainer::ValidateIfDue() {
  if (!task_->CanValidate() || state_.update % options_.run.validate_every != 0) return false;
  ReadOutcome();
  const torch::Tensor average = learner_.Whole(Learner::Buffer::kAverage);
  const double metric = group_->Sum(group_->first() ? Validate(average) : 0);
  const bool among_best =
      RecordValidation(options_.run, {metric, HighIsBetter(task_->info(), options_.run)}, &state_);
  if (group_->first()) WriteReport();
  return among_best;
}

// The metric that decides, of the average where there is one.
double Trainer::Validate(const torch::Tensor& average) {
  const torch::NoGradGuard no_grad;
  torch::Tensor& present = learner_.parameters().weights();
  torch::Tensor weights;
  if (average.defined()) {
    weights = present.clone();
    present.copy_(average);
  }
  task_->module().eval();
  const ValidationResult result = task_->Validate();
  task_->module().train();
  if (weights.defined()) present.copy_(weights);
  logs_->LogValidation(state_, result);
  std::string summary;
  for (const auto& [name, value] : result.metrics)
    summary += fmt::format("  {} {:.{}f}", name, value, IsCount(value) ? 0 : 4);
  effects_.log(LogLevel::kInfo, fmt::format("validation at update {}:{}", state_.update, summary));
  return result.metrics.at(options_.run.early_stopping_metric);
}

void Trainer::WriteCheckpoint() {
  ReadOutcome();
  const bool scheduled = !state_.recent.empty() && state_.recent.back() == state_.update;
  if (scheduled) saved_update_ = state_.update;
  using Buffer = Learner::Buffer;
  const torch::Tensor weights = learner_.Whole(Buffer::kWeights),
                      first = learner_.Whole(Buffer::kFirstMoment),
                      second = learner_.Whole(Buffer::kSecondMoment),
                      average = learner_.Whole(Buffer::kAverage);
  if (!group_->first()) return;
  logs_->Sync();
  const FlatLayout& layout = learner_.parameters().layout();
  std::map<std::string, TensorTable> files;
  layout.AddTo(&files[kWeightsFile], weights);
  layout.AddTo(&files[kOptimizerFile], first, "first_moment.");
  layout.AddTo(&files[kOptimizerFile], second, "second_moment.");
  if (average.defined()) layout.AddTo(&files[kAverageFile], average);
  Json state = ToJson(state_);
  state["random"] = {{"seed", options_.seed},
                     {"keyed_by", {"seed", "update", "place in the update's batch"}}};
  state["run"] = ToJson(identity_);
  store_.Write(state_.update, files, std::move(state));
  store_.Prune(WholeCheckpoints(options_.run, state_), WeightCheckpoints(options_.run, state_));
}

std::vector<fs::path> Trainer::AveragedDirectories() const {
  std::vector<fs::path> directories;
  for (const int64_t update : AveragedCheckpoints(options_.run, state_))
    directories.push_back(store_.DirectoryOf(update));
  return directories;
}

void Trainer::LogEnd(const Json& scores) { logs_->LogEnd(state_, scores); }

void Trainer::WriteReport(const Json& test) const {
  WriteTrainingReport(options_.output,
                      {task_->info(), task_->CanValidate(), identity_.options,
                       identity_.environment, CountParameters(task_->module(), /*trained=*/false),
                       CountParameters(task_->module(), /*trained=*/true)},
                      test);
}

}  // namespace attend
