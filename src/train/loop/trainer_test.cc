// The training loop: when it validates, saves and stops, and how it goes on.
#include "train/loop/trainer.h"

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

TEST_F(TrainerTest, ABudgetBelowTheFirstUpdateIsRefused) {
  options_.run.max_target_tokens = 3;
  LineTask task;
  try {
    Run(&task);
    FAIL() << "a model was left as it began";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kConfiguration);
    EXPECT_THAT(error.what(), HasSubstr("max_target_tokens is 3, but the first update has 4"));
  }
  EXPECT_FALSE(fs::exists(fs::path(options_.output) / "checkpoints"));
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

TEST_F(TrainerTest, ProgressTellsTheSpeedAndItsShareOfThePeak) {
  options_.run.report_every = options_.run.max_updates = 10;
  effects_.peak_flops = 16;
  std::vector<ProgressReport> reports;
  effects_.progress = [&](const ProgressReport& report) { reports.push_back(report); };
  LineTask task;
  task.bad = {4};
  effects_.now = [&] { return 0.5 * task.losses; };  // half a second an update
  Run(&task);
  ASSERT_EQ(reports.size(), 1u);
  // Nine updates of four examples, each of one operation, in five seconds; a bad one counts for
  // nothing.
  EXPECT_NEAR(reports[0].flops, 7.2, 1e-9);
  EXPECT_EQ(reports[0].peak_flops, 16);
  const std::vector<Json> timing = Metrics("timing.jsonl");
  EXPECT_NEAR(timing.at(0)["flops"].get<double>(), 7.2, 1e-9);
  EXPECT_NEAR(timing.at(0)["utilisation"].get<double>(), 0.45, 1e-9);
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
    Trainer trainer(&other, options_, std::move(identity), effects_, mode_);
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
  CheckpointStore store(fs::path(options_.output) / "checkpoints");
  const Json good = store.FindNewest(NoLog())->state;
  for (const char* member : {"options", "model", "data_digests", "environment", "task", ""}) {
    Json bad = good;
    *member != '\0' ? bad["run"].erase(member) : bad.erase("run");
    store.Write(10, {}, bad);
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
