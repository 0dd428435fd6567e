// The training loop on a task of a few numbers: fit y = a x, one weight, batches of given numbers.
#include "train/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <mutex>

#include "attend/error.h"
#include "base/files.h"
#include "base/random.h"
#include "train/environment.h"
#include "train/metrics_log.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class Numbers : public ExampleSource {
 public:
  Numbers() {
    for (int32_t i = 0; i < 24; ++i) table_.Add({{0, i}, {{i % 5 + 1}}});
  }
  std::unique_ptr<WindowReader> Open(int64_t epoch, const WindowStart&) const override {
    return OpenTable(&table_, epoch);
  }
  std::string Where(const Place& place) const override {
    return "numbers:" + std::to_string(place.line + 1);
  }

 private:
  ExampleTable table_{1};
};

class LineModule : public torch::nn::Module {
 public:
  LineModule() { a = register_parameter("a", torch::zeros({1})); }
  torch::Tensor a;
};

// The loss of y = 3 x with noise keyed as dropout is.
class LineTask : public TrainingTask {
 public:
  const ExampleSource& examples() const override { return numbers_; }
  torch::nn::Module& module() override { return module_; }
  int64_t CountTargets(const Batch& batch) const override {
    return static_cast<int64_t>(batch.examples.size());
  }
  double Work(const Example&) const override { return 1; }
  TaskLoss Loss(const Shard& shard, uint64_t seed) override {
    const std::lock_guard lock(mutex_);
    ++losses;
    trained_in_training_mode &= module_.is_training();
    torch::Tensor sum = torch::zeros({1});
    auto place = static_cast<uint64_t>(shard.examples_before);
    for (const Example& example : shard.examples) {
      const double x = example.columns[0][0];
      const double noise = Random{seed, place++}.Normal();
      drawn.insert(noise);
      sum = sum + (module_.a * x - 3 * x - 0.01 * noise).square();
    }
    if (bad.count(losses) > 0) sum = sum * std::nan("");
    sums.push_back(sum.item<double>());
    return {sum.sum(), std::ssize(shard.examples)};
  }
  bool CanValidate() const override { return !validation_losses.empty(); }
  ValidationResult Validate() override {
    const double loss = validation_losses.at(std::min(validations++, validation_losses.size() - 1));
    weights_at_validation.push_back(module_.a.item<double>());
    validated_in_training_mode |= module_.is_training();
    return {{{"loss", loss}, {"perplexity", std::exp(loss)}}, {{"in", "reference", "out"}}};
  }

  int losses = 0;
  std::set<int> bad;  // calls of Loss that give NaN
  std::vector<double> validation_losses;
  size_t validations = 0;
  std::vector<double> weights_at_validation;
  std::set<double> drawn;    // noise
  std::vector<double> sums;  // of each call of Loss
  bool trained_in_training_mode = true, validated_in_training_mode = false;
  LineModule module_;

 private:
  std::mutex mutex_;
  Numbers numbers_;
};

class TrainerTest : public testing::Test {
 protected:
  TrainerTest() : root_(fs::path(testing::TempDir()) / "trainer_test") {
    fs::remove_all(root_);
    fs::create_directories(root_);
    SetUpTorch(1);
    options_.optimization.schedule = nn::ScheduleKind::kConstant;
    options_.optimization.peak_learning_rate = 0.1;
    options_.optimization.warmup_updates = 0;
    options_.optimization.batch_tokens = 4;
    options_.run.max_updates = 60;
    options_.run.validate_every = 5;
    options_.run.checkpoint_every = 10;
    options_.output = root_ / "run";
    effects_.log = [this](LogLevel level, std::string_view message) {
      if (level == LogLevel::kWarning) warnings_.emplace_back(message);
    };
  }
  ~TrainerTest() override { fs::remove_all(root_); }

  RunIdentity Identity() {
    return {FieldsToJson(RecipeFields(options_)),
            {{"name", "line"}},
            {{"numbers", "digest"}},
            {{"threads", 1}},
            Json::object()};
  }
  // A start of the program on `task`.
  TrainOutcome Run(LineTask* task) {
    fs::create_directories(options_.output);
    Trainer trainer(task, options_, Identity(), effects_, threads_);
    const TrainOutcome outcome = trainer.Run();
    state_ = trainer.state();
    averaged_ = trainer.AveragedDirectories();
    return outcome;
  }
  std::string Complaint(LineTask* task) {
    try {
      Run(task);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  std::vector<Json> Metrics() { return ReadMetrics(fs::path(options_.output) / "metrics.jsonl"); }

  fs::path root_;
  TrainOptions options_;
  TrainerEffects effects_;
  int threads_ = 1;
  TrainState state_;
  std::vector<fs::path> averaged_;
  std::vector<std::string> warnings_;
};

TEST_F(TrainerTest, LossGoesDownAndEachUpdateIsLoggedOnce) {
  LineTask task;
  const TrainOutcome outcome = Run(&task);
  EXPECT_TRUE(outcome.finished);
  EXPECT_NEAR(task.module_.a.item<double>(), 3, 0.3);
  const std::vector<Json> metrics = Metrics();
  ASSERT_EQ(metrics.size(), 60u);
  EXPECT_GT(metrics.front()["loss"].get<double>(), 20);
  EXPECT_LT(metrics.back()["loss"].get<double>(), 0.5);
  for (size_t i = 0; i < metrics.size(); ++i) EXPECT_EQ(metrics[i]["update"], i + 1);
}

TEST_F(TrainerTest, LossIsDividedByTheTargetsOfTheWholeUpdate) {
  options_.optimization.accumulate = 2;
  options_.run.max_updates = 1;
  LineTask task;
  Run(&task);
  EXPECT_EQ(task.losses, 2);
  EXPECT_EQ(state_.target_tokens, 8);
  EXPECT_NEAR(Metrics()[0]["loss"], (task.sums[0] + task.sums[1]) / 8, 1e-5);
}

TEST_F(TrainerTest, EachBatchOfEachUpdateDrawsItsOwnNumbersByTheSeed) {
  options_.optimization.accumulate = 2;
  options_.run.max_updates = 3;
  LineTask task, other;
  Run(&task);
  EXPECT_EQ(task.drawn.size(), 24u);
  options_.output = root_ / "other";
  options_.seed = 2;
  Run(&other);
  for (const double number : other.drawn) EXPECT_EQ(task.drawn.count(number), 0u);
}

TEST_F(TrainerTest, LearningRateFollowsTheScheduleAskedFor) {
  options_.run.max_updates = 8;
  OptimizationOptions& optimization = options_.optimization;
  optimization.peak_learning_rate = 0.02;
  optimization.end_learning_rate = 0.003;
  optimization.noam_scale = 1.5;
  optimization.warmup_updates = 4;
  options_.model.encoder->d_model = 64;
  for (const nn::ScheduleKind kind : {nn::ScheduleKind::kNoam, nn::ScheduleKind::kInverseSqrt,
                                      nn::ScheduleKind::kCosine, nn::ScheduleKind::kConstant}) {
    optimization.schedule = kind;
    options_.output = root_ / std::to_string(static_cast<int>(kind));
    LineTask task;
    Run(&task);
    const std::vector<Json> metrics = Metrics();
    for (int64_t update = 1; update <= 8; ++update) {
      EXPECT_EQ(metrics.at(update - 1)["learning_rate"],
                nn::LearningRate({kind, 0.02, 1.5, 4, 64, 8, 0.003}, update));
    }
  }
}

TEST_F(TrainerTest, OptionsOfTheOptimiserReachIt) {
  options_.run.max_updates = 5;
  std::set<double> results;
  int runs = 0;
  const auto run = [&](const auto& change) {
    const OptimizationOptions before = options_.optimization;
    change(&options_.optimization);
    options_.output = root_ / std::to_string(++runs);
    LineTask task;
    Run(&task);
    results.insert(task.module_.a.item<double>());
    options_.optimization = before;
  };
  run([](OptimizationOptions*) {});
  run([](OptimizationOptions* options) { options->weight_decay = 0.5; });
  run([](OptimizationOptions* options) { options->clip_norm = 20; });
  run([](OptimizationOptions* options) { options->adam_beta1 = 0.5; });
  run([](OptimizationOptions* options) { options->adam_beta2 = 0.5; });
  run([](OptimizationOptions* options) { options->adam_epsilon = 1; });
  EXPECT_EQ(results.size(), 6u);
}

TEST_F(TrainerTest, InterruptedRunEndsInTheSameBits) {
  threads_ = 2;
  options_.optimization.accumulate = 2;
  options_.optimization.ema_decay = 0.9;
  options_.run.average_last = 3;
  LineTask unbroken;
  unbroken.validation_losses = {5, 4, 3, 2, 1};
  Run(&unbroken);
  const fs::path reference = options_.output;
  options_.output = root_ / "broken";
  int polls = 0;
  effects_.stop_requested = [&] { return ++polls % 7 == 0; };
  for (int starts = 1;; ++starts) {
    ASSERT_LT(starts, 20);
    LineTask task;
    task.validation_losses = {5, 4, 3, 2, 1};
    const fs::path checkpoints = fs::path(options_.output) / "checkpoints";
    task.validations =
        fs::exists(checkpoints) ? CheckpointStore(checkpoints).Updates().back() / 5 : 0;
    if (Run(&task).finished) {
      EXPECT_GT(starts, 3);
      break;
    }
  }
  EXPECT_EQ(ReadFile(fs::path(options_.output) / "metrics.jsonl"),
            ReadFile(reference / "metrics.jsonl"));
  for (const char* update : {"update-0000000040", "update-0000000050", "update-0000000060"}) {
    for (const char* file : {kWeightsFile, kAverageFile, "state.json"}) {
      EXPECT_EQ(ReadFile(fs::path(options_.output) / "checkpoints" / update / file),
                ReadFile(reference / "checkpoints" / update / file))
          << update << file;
    }
  }
}

TEST_F(TrainerTest, SignalCheckpointsEnterNeitherAveragesNorBest) {
  options_.run.average_last = 4;
  int polls = 0;
  effects_.stop_requested = [&] { return ++polls == 13; };
  LineTask task;
  const TrainOutcome outcome = Run(&task);
  EXPECT_FALSE(outcome.finished);
  EXPECT_THAT(outcome.reason, HasSubstr("update 13"));
  EXPECT_THAT(CheckpointStore(fs::path(options_.output) / "checkpoints").Updates(),
              ElementsAre(10, 13));
  EXPECT_THAT(state_.recent, ElementsAre(10));
}

TEST_F(TrainerTest, BadUpdatesAreSkippedAndCounted) {
  LineTask task;
  task.bad = {3, 7, 8};
  Run(&task);
  EXPECT_EQ(state_.skipped_updates, 3);
  EXPECT_EQ(state_.adam_steps, 57);
  EXPECT_EQ(state_.bad_in_a_row, 0);
  EXPECT_NEAR(task.module_.a.item<double>(), 3, 0.3);
  ASSERT_EQ(warnings_.size(), 3u);
  EXPECT_THAT(warnings_[0], HasSubstr("update 3"));
  EXPECT_TRUE(Metrics()[2]["loss"].is_null());
  EXPECT_EQ(Metrics()[2]["skipped"], true);
}

TEST_F(TrainerTest, TooManyBadUpdatesStopTheRunAndOverwriteNothing) {
  options_.optimization.max_bad_updates = 3;
  options_.run.checkpoint_every = 5;
  LineTask task;
  for (int call = 13; call < 40; ++call) task.bad.insert(call);
  const std::string complaint = Complaint(&task);
  EXPECT_THAT(complaint, HasSubstr("3 updates in a row"));
  EXPECT_THAT(complaint, HasSubstr("update 15"));
  EXPECT_THAT(complaint, HasSubstr("first parameter with a gradient that is not finite: a"));
  EXPECT_THAT(complaint,
              testing::ContainsRegex(
                  "corpus lines numbers:[0-9]+, numbers:[0-9]+, numbers:[0-9]+, numbers:[0-9]+"));
  EXPECT_THAT(CheckpointStore(fs::path(options_.output) / "checkpoints").Updates(),
              ElementsAre(5, 10));
}

TEST_F(TrainerTest, StopsEarlyAndAveragesTheBest) {
  options_.run.early_stopping_patience = 3;
  options_.run.average_best = 2;
  LineTask task;
  task.validation_losses = {5, 2, 1, 3, 4, 6, 0};
  const TrainOutcome outcome = Run(&task);
  EXPECT_EQ(outcome.reason, "no better validation in 3");
  EXPECT_EQ(state_.update, 30);
  ASSERT_EQ(averaged_.size(), 2u);
  EXPECT_EQ(averaged_[0].filename(), "update-0000000010");
  EXPECT_EQ(averaged_[1].filename(), "update-0000000015");
  for (const fs::path& directory : averaged_) EXPECT_TRUE(fs::exists(directory / kWeightsFile));
  EXPECT_LE(CheckpointStore(fs::path(options_.output) / "checkpoints").Updates().size(), 4u);
}

TEST_F(TrainerTest, ValidatesTheMovingAverageAndPutsTheWeightsBack) {
  options_.optimization.ema_decay = 0.5;
  LineTask with, without;
  with.validation_losses = {1};
  Run(&with);
  options_.output = root_ / "without";
  Run(&without);
  EXPECT_EQ(with.module_.a.item<double>(), without.module_.a.item<double>());
  EXPECT_NE(with.weights_at_validation.back(), with.module_.a.item<double>());
  EXPECT_TRUE(with.trained_in_training_mode);
  EXPECT_FALSE(with.validated_in_training_mode);
}

TEST_F(TrainerTest, MovingAverageWarmsUpByStepsTaken) {
  options_.optimization.ema_decay = 0.9;
  options_.run.max_updates = options_.run.validate_every = 2;
  LineTask task;
  task.bad = {1};
  task.validation_losses = {1};
  Run(&task);
  // The second update is Adam's first step: the decay is (1 + 1) / (10 + 1), from a weight of 0.
  EXPECT_NEAR(task.weights_at_validation.at(0), task.module_.a.item<double>() * 9 / 11, 1e-7);
}

TEST_F(TrainerTest, StopsAtTheBudgetOfTargetsAndOfEpochs) {
  options_.run.max_target_tokens = 30;
  LineTask task;
  Run(&task);
  EXPECT_EQ(state_.target_tokens, 28);
  options_.run.max_target_tokens = 40;  // used up to the last
  LineTask longer, unbroken;
  Run(&longer);
  EXPECT_EQ(state_.target_tokens, 40);
  options_.output = root_ / "unbroken";
  Run(&unbroken);
  EXPECT_EQ(longer.module_.a.item<double>(), unbroken.module_.a.item<double>());
  options_.run.max_target_tokens = 0;
  options_.run.max_epochs = 2;
  options_.optimization.accumulate = 5;  // of 12 batches in two epochs; the last update has 2
  options_.output = root_ / "epochs";
  LineTask other;
  Run(&other);
  EXPECT_EQ(state_.target_tokens, 48);
  EXPECT_EQ(state_.update, 3);
}

TEST_F(TrainerTest, TimeLeftIsUntilTheFirstBound) {
  options_.run.report_every = 10;
  std::vector<double> left;
  effects_.progress = [&](const ProgressReport& report) { left.push_back(report.seconds_left); };
  const auto run = [&](const char* name) {
    options_.output = root_ / name;
    left.clear();
    LineTask task;
    effects_.now = [&] { return static_cast<double>(task.losses); };  // a second an update
    Run(&task);
    return left;
  };
  const auto near = [](double seconds) { return testing::DoubleNear(seconds, 1e-9); };
  EXPECT_THAT(run("updates"),
              ElementsAre(near(50), near(40), near(30), near(20), near(10), near(0)));
  options_.run.max_target_tokens = 80;  // 20 updates of 4
  EXPECT_THAT(run("tokens"), ElementsAre(near(10), near(0)));
  options_.run.max_target_tokens = 0;
  options_.run.max_epochs = 5;  // of 6 updates
  EXPECT_THAT(run("epochs"), ElementsAre(near(20), near(10), near(0)));
}

TEST_F(TrainerTest, GoingOnWithOtherOptionsIsRecordedOrRefused) {
  options_.run.max_updates = 20;
  LineTask task;
  Run(&task);
  options_.run.max_updates = 30;
  options_.optimization.clip_norm = 1;
  LineTask again;
  Run(&again);
  EXPECT_EQ(state_.update, 30);
  ASSERT_EQ(state_.changes.size(), 1u);
  EXPECT_EQ(state_.changes[0]["update"], 20);
  EXPECT_EQ(state_.changes[0]["changes"].size(), 2u);
  EXPECT_EQ(warnings_.size(), 2u);
  options_.seed = 9;
  LineTask other;
  EXPECT_THAT(Complaint(&other), HasSubstr("seed was 1, now 9"));
}

TEST_F(TrainerTest, OtherDataOrModelIsRefusedOtherSurroundingsWarn) {
  options_.run.max_updates = 10;
  LineTask task;
  Run(&task);
  const auto resume = [&](RunIdentity identity) {
    LineTask other;
    Trainer trainer(&other, options_, std::move(identity), effects_, threads_);
    return trainer.state();
  };
  RunIdentity identity = Identity();
  identity.data_digests["numbers"] = "another";
  EXPECT_THROW(resume(identity), Error);
  for (const Json& digests : {Json{{"numbers", "digest"}, {"more", "digest"}}, Json::object()}) {
    identity.data_digests = digests;
    EXPECT_THROW(resume(identity), Error) << digests;
  }
  identity = Identity();
  identity.model["name"] = "circle";
  EXPECT_THROW(resume(identity), Error);
  identity = Identity();
  identity.environment["threads"] = 2;
  EXPECT_EQ(resume(identity).changes.size(), 1u);
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_THAT(warnings_[0], HasSubstr("threads was 1, now 2"));
}

TEST_F(TrainerTest, AStateThatIsNoRunsIsBadInput) {
  options_.run.max_updates = 10;
  LineTask task;
  Run(&task);
  const fs::path path =
      fs::path(options_.output) / "checkpoints" / "update-0000000010" / "state.json";
  const Json good = ParseJson(ReadFile(path), "state.json");
  for (const char* member : {"options", "model", "data_digests", "environment", "task", ""}) {
    Json bad = good;
    *member != '\0' ? bad["run"].erase(member) : bad.erase("run");
    WriteFileSynced(path, bad.dump());
    LineTask again;
    EXPECT_THAT(Complaint(&again), HasSubstr("not the state of a training run")) << member;
  }
}

TEST(ReadParametersTest, RefusesTensorsOfAnotherTypeOrShape) {
  LineModule module;
  const float values[] = {7, 8};
  const auto read = [&](TensorType type, std::vector<int64_t> shape) {
    TensorTable table;
    table.Add({"a", type, std::move(shape), reinterpret_cast<const std::byte*>(values)});
    ReadParameters(table, &module);
  };
  read(TensorType::kF32, {1});
  EXPECT_EQ(module.a.item<double>(), 7);
  EXPECT_THROW(read(TensorType::kI8, {1}), Error);
  EXPECT_THROW(read(TensorType::kF32, {2}), Error);
  EXPECT_THROW(read(TensorType::kF32, {}), Error);
  EXPECT_THROW(ReadParameters(TensorTable(), &module), Error);
}

TEST_F(TrainerTest, DamagedNewestCheckpointIsNamedAndTheRunStillEndsTheSame) {
  LineTask unbroken;
  Run(&unbroken);
  const double expected = unbroken.module_.a.item<double>();
  options_.output = root_ / "damaged";
  options_.run.max_updates = 40;
  LineTask first;
  Run(&first);
  fs::resize_file(fs::path(options_.output) / "checkpoints" / "update-0000000040" / kWeightsFile,
                  10);
  options_.run.max_updates = 60;
  warnings_.clear();
  LineTask second;
  Run(&second);
  EXPECT_THAT(warnings_.at(0), HasSubstr("update-0000000040"));
  EXPECT_EQ(second.module_.a.item<double>(), expected);
  EXPECT_EQ(Metrics().size(), 60u);
}

}  // namespace
}  // namespace attend
