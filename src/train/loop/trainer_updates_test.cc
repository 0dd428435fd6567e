// What the training loop does in an update, and what it does about a bad one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attend/error.h"
#include "base/files.h"
#include "train/loop/line_task.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

// By whether the device decides, as a GPU does, and is asked an update later.
class TrainerInEachModeTest : public TrainerTest, public testing::WithParamInterface<bool> {
 protected:
  TrainerInEachModeTest() { mode_.deferred = GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Modes, TrainerInEachModeTest, testing::Bool());

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

TEST_P(TrainerInEachModeTest, InterruptedRunEndsInTheSameBits) {
  mode_.threads = 2;
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
    for (const char* file : {kWeightsFile, kAverageFile, kStateFile}) {
      EXPECT_EQ(ReadFile(fs::path(options_.output) / "checkpoints" / update / file),
                ReadFile(reference / "checkpoints" / update / file))
          << update << file;
    }
  }
}

TEST_P(TrainerInEachModeTest, BadUpdatesAreSkippedAndCounted) {
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

TEST_P(TrainerInEachModeTest, TooManyBadUpdatesStopTheRunAndOverwriteNothing) {
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

TEST_F(TrainerTest, DeferredDecisionsLeaveTheSameFiles) {
  options_.optimization.ema_decay = 0.9;
  std::vector<fs::path> outputs;
  for (const bool deferred : {false, true}) {
    mode_.deferred = deferred;
    outputs.push_back(options_.output = root_ / (deferred ? "deferred" : "at once"));
    LineTask task;
    task.bad = {3, 10, 11, 60};
    task.validation_losses = {5, 2, 1, 3, 4};
    Run(&task);
  }
  EXPECT_EQ(warnings_.size(), 8u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(warnings_[4 + i], warnings_[i]);
  EXPECT_EQ(ReadFile(outputs[1] / "metrics.jsonl"), ReadFile(outputs[0] / "metrics.jsonl"));
  for (const char* file : {kWeightsFile, kOptimizerFile, kAverageFile, kStateFile}) {
    const fs::path path = fs::path("checkpoints") / "update-0000000060" / file;
    EXPECT_EQ(ReadFile(outputs[1] / path), ReadFile(outputs[0] / path)) << file;
  }
}

TEST_F(TrainerTest, AnUpdateThatIsDeferredIsReadOnceTheNextIsOnItsWay) {
  mode_.deferred = true;
  options_.run.report_every = options_.run.checkpoint_every = 1;
  options_.run.max_updates = 4;
  std::vector<int> started;  // updates, when one is reported
  LineTask task;
  effects_.progress = [&](const ProgressReport&) { started.push_back(task.losses); };
  Run(&task);
  EXPECT_THAT(started, ElementsAre(1, 2, 3, 4));  // a checkpoint needs it
  started.clear();
  task.losses = 0;
  options_.run.checkpoint_every = 4;
  options_.output = root_ / "other";
  Run(&task);
  EXPECT_THAT(started, ElementsAre(2, 3, 4, 4));
}

TEST_P(TrainerInEachModeTest, MovingAverageWarmsUpByStepsTaken) {
  options_.optimization.ema_decay = 0.9;
  options_.run.max_updates = options_.run.validate_every = 2;
  LineTask task;
  task.bad = {1};
  task.validation_losses = {1};
  Run(&task);
  // The second update is Adam's first step: the decay is (1 + 1) / (10 + 1), from a weight of 0.
  EXPECT_NEAR(task.weights_at_validation.at(0), task.module_.a.item<double>() * 9 / 11, 1e-7);
}

}  // namespace
}  // namespace attend
