#include "train/checkpoint/train_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attend/error.h"
#include "model/config_fields.h"

namespace attend {
namespace {

using testing::ElementsAre;

std::vector<int64_t> Best(const TrainState& state) {
  std::vector<int64_t> updates;
  for (const BestCheckpoint& best : state.best) updates.push_back(best.update);
  return updates;
}

TEST(TrainStateTest, BestListIsSortedAndBounded) {
  RunOptions options;
  options.keep_best = 2;
  TrainState state;
  const double losses[] = {3, 1, 2, 4, 0.5};
  std::vector<bool> among_best;
  for (const double loss : losses) {
    ++state.update;
    among_best.push_back(RecordValidation(options, {loss}, &state));
  }
  EXPECT_THAT(Best(state), ElementsAre(5, 2));
  EXPECT_THAT(among_best, ElementsAre(true, true, true, false, true));
  EXPECT_EQ(state.best_metric, 0.5);
}

TEST(TrainStateTest, HigherIsBetterWhereItIsSaidAndTiesAreNot) {
  RunOptions options;
  options.early_stopping_patience = 3;
  TrainState state;
  for (const double bleu : {10.0, 20.0, 20.0, 19.0}) {
    ++state.update;
    RecordValidation(options, {bleu, /*high_is_better=*/true}, &state);
  }
  EXPECT_THAT(Best(state), ElementsAre(2));
  EXPECT_EQ(state.validations_without_better, 2);
  EXPECT_EQ(StopReason(options, state), "");
  RecordValidation(options, {20.0, true}, &state);
  EXPECT_EQ(StopReason(options, state), "no better validation in 3");
}

TEST(TrainStateTest, NoNumberIsNobodysBest) {
  TrainState state;
  state.update = 1;
  EXPECT_FALSE(RecordValidation({}, {std::nan("")}, &state));
  EXPECT_FALSE(RecordValidation({}, {std::numeric_limits<double>::infinity()}, &state));
  EXPECT_THAT(Best(state), ElementsAre());
  EXPECT_EQ(state.validations_without_better, 2);
}

TEST(TrainStateTest, KeepsWhatAveragingAndGoingOnNeed) {
  RunOptions options;
  options.keep_last = 2;
  options.average_last = 3;
  options.keep_best = 1;
  TrainState state;
  for (state.update = 10; state.update <= 50; state.update += 10) RecordCheckpoint(options, &state);
  state.update = 55;  // a checkpoint for a signal
  state.best = {{20, 1.0}};
  EXPECT_THAT(state.recent, ElementsAre(30, 40, 50));
  EXPECT_THAT(WholeCheckpoints(options, state), ElementsAre(40, 50, 55));
  EXPECT_THAT(WeightCheckpoints(options, state), ElementsAre(20, 30, 40, 50));
  EXPECT_THAT(AveragedCheckpoints(options, state), ElementsAre(30, 40, 50));
  options.average_best = 1;
  EXPECT_THAT(AveragedCheckpoints(options, state), ElementsAre(20));
  options.keep_best = 2;  // more are kept than averaged
  state.best.push_back({10, 2.0});
  EXPECT_THAT(AveragedCheckpoints(options, state), ElementsAre(20));
}

TEST(TrainStateTest, StopsAtEachBound) {
  RunOptions options;
  options.max_updates = 10;
  options.max_epochs = 2;
  TrainState state;
  EXPECT_EQ(StopReason(options, state), "");
  state.update = 10;
  EXPECT_EQ(StopReason(options, state), "max_updates (10) reached");
  state.update = 9;
  state.data.epoch = 2;
  EXPECT_EQ(StopReason(options, state), "max_epochs (2) reached");
}

TEST(TrainStateTest, JsonKeepsEverything) {
  TrainState state;
  state.update = 7;
  state.adam_steps = 6;
  state.target_tokens = 1234567890123;
  state.skipped_updates = 1;
  state.bad_in_a_row = 1;
  state.data = {3, 4, 5};
  state.recent = {2, 4, 6};
  state.best = {{4, 0.1}, {2, 1.0 / 3}};
  state.best_metric = 0.1;
  state.validations_without_better = 2;
  const Json json = ToJson(state);
  EXPECT_EQ(ToJson(TrainStateFromJson(ParseJson(json.dump(), "text"), "here")), json);
  Json broken = json;
  broken.erase("recent");
  EXPECT_THROW(TrainStateFromJson(broken, "here"), Error);
  for (const char* count : {"update", "adam_steps", "bad_in_a_row", "validations_without_better"}) {
    for (const Json& wrong : {Json(-1), Json(1.5), Json(UINT64_MAX), Json("1")}) {
      broken = json;
      broken[count] = wrong;
      EXPECT_THROW(TrainStateFromJson(broken, "here"), Error) << count << " " << wrong.dump();
    }
  }
  broken = json;
  broken["changes"] = "none";
  EXPECT_THROW(TrainStateFromJson(broken, "here"), Error);
}

TEST(TrainStateTest, ARunOfAnOlderProgramHadTheDefaultsOfWhatItsModelLacked) {
  ModelConfig model;
  RunIdentity now{Json::object(), FieldsToJson(Fields(model)), Json::object(), {}, {}};
  RunIdentity before = now;
  before.model.erase("architecture");
  before.model["encoder"].erase("kernel_width");
  EXPECT_THAT(CompareRuns(before, now).forbidden, testing::IsEmpty());
  model.encoder->kernel_width = 5;
  now.model = FieldsToJson(Fields(model));
  EXPECT_THAT(CompareRuns(before, now).forbidden,
              testing::ElementsAre("the model's configuration is another"));
}

}  // namespace
}  // namespace attend
