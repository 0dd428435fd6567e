// Updates shared by threads, on a small Transformer.
#include "train/loop/learner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "attend/error.h"
#include "attend/nn/loss.h"
#include "attend/nn/transformer.h"
#include "base/random.h"
#include "data/example_fixture.h"
#include "nn/test_models.h"
#include "train/device/environment.h"
#include "train/loop/loop_task.h"
#include "train/tasks/translation/translation_task.h"

namespace attend {
namespace {

using testing::HasSubstr;

class SmallTask : public LoopTask {
 public:
  SmallTask() : transformer_(Config(), nn::Dropout{0.3, 0.3, 0.3, 0.3}, 7), loss_(0.1, 0) {}

  const ExampleSource& examples() const override { throw std::logic_error("not for use"); }
  torch::nn::Module& module() override { return *transformer_; }
  int64_t CountTargets(const Examples& examples) const override {
    int64_t targets = 0;
    for (const Example example : examples) targets += example.Length(1) - 1;
    return targets;
  }
  double Work(const Example& example) const override {
    return static_cast<double>(example.Length(0) + example.Length(1));
  }
  torch::Tensor Loss(const Shard& shard, uint64_t seed) override {
    if (shard.examples[0].origin().line == bad_line)
      throw Error(ErrorKind::kRuntime, "line has no loss");
    const PackedPairs ids = MakePackedPairs(shard.examples);
    return loss_
        ->FromHidden(
            transformer_->PackedHidden(ids.source, ids.target_in, DropoutKeyOf(shard, seed)),
            transformer_->OutputWeight(), transformer_->OutputBias(), ids.target_out_R)
        .loss;
  }
  bool CanValidate() const override { return false; }
  ValidationResult Validate() override { return {}; }

  int64_t bad_line = -1;  // its shard throws where it comes first

 private:
  static ModelConfig Config() {
    ModelConfig config = nn::SmallModel();
    config.source_vocab_size = config.target_vocab_size = 5000;  // more than a slice of weights
    return config;
  }

  nn::Transformer transformer_;
  nn::LabelSmoothingLoss loss_;
};

// A batch of random sentences, the longest first.
Batch RandomBatch(int64_t rows, uint64_t seed) {
  Random random{seed};
  std::vector<IdColumns> examples;
  for (int64_t row = 0; row < rows; ++row) {
    IdColumns columns(2);
    for (std::vector<int32_t>& column : columns) {
      column.resize(3 + static_cast<size_t>(rows - row) / 2);
      for (int32_t& id : column) id = static_cast<int32_t>(4 + random.Below(4990));
    }
    examples.push_back(std::move(columns));
  }
  return BatchOf(examples);
}

GlobalBatch Together(std::vector<Batch> batches) {
  GlobalBatch batch{std::move(batches)};
  for (const Batch& each : batch.batches)
    batch.targets += SmallTask().CountTargets(each.examples());
  return batch;
}

// Losses, norms and weights of a few updates, each of two batches.
struct Course {
  std::vector<double> numbers;
  torch::Tensor gradients, weights, average;
};
Course Train(const UpdateMode& mode, int64_t rows) {
  SetUpTorch(1);
  SmallTask task;
  OptimizationOptions options;
  options.clip_norm = 0.5;
  options.ema_decay = 0.9;
  Learner learner(&task, options, mode);
  Course course;
  for (int64_t update = 0; update < 4; ++update) {
    const UpdateOutcome outcome = learner.Backward(
        Together({RandomBatch(rows, 2 * update), RandomBatch(rows, 2 * update + 1)}), update);
    if (update == 0) course.gradients = learner.parameters().gradients().clone();
    learner.Apply(outcome, 0.01, update + 1);
    const LossAndNorm found = learner.Read(outcome);
    course.numbers.insert(course.numbers.end(), {found.loss, found.norm});
  }
  course.weights = learner.parameters().weights();
  course.average = learner.Whole(Learner::Buffer::kAverage);
  return course;
}

double Distance(const torch::Tensor& a, const torch::Tensor& b) {
  return (a - b).norm().item<double>() / b.norm().item<double>();
}

TEST(LearnerTest, AnyNumberOfThreadsLearnsTheSame) {
  const Course one = Train({1}, 9);
  for (const int threads : {2, 3}) {
    const Course many = Train({threads}, 9);
    for (size_t i = 0; i < one.numbers.size(); ++i)
      EXPECT_NEAR(many.numbers[i], one.numbers[i], 1e-5 * one.numbers[i]) << threads << " " << i;
    EXPECT_LT(Distance(many.gradients, one.gradients), 1e-5);
    EXPECT_LT(Distance(many.weights, one.weights), 1e-4);
    EXPECT_LT(Distance(many.average, one.average), 1e-4);
  }
}

TEST(LearnerTest, TheSameThreadsGiveTheSameBits) {
  const Course first = Train({2}, 9), second = Train({2}, 9);
  EXPECT_EQ(first.numbers, second.numbers);
  EXPECT_TRUE(first.weights.equal(second.weights));
  EXPECT_TRUE(first.average.equal(second.average));
}

TEST(LearnerTest, OneSentenceIsEnoughForManyThreads) {
  const Course one = Train({1}, 1), many = Train({4}, 1);
  for (size_t i = 0; i < one.numbers.size(); ++i)
    EXPECT_NEAR(many.numbers[i], one.numbers[i], 1e-5 * one.numbers[i]) << i;
}

// What a GPU does, on a CPU.
TEST(LearnerTest, DeferredDecisionsAreTheSame) {
  const Course now = Train({2}, 9), deferred = Train({2, true}, 9), again = Train({2, true}, 9);
  for (size_t i = 0; i < now.numbers.size(); ++i)
    EXPECT_NEAR(deferred.numbers[i], now.numbers[i], 1e-5 * now.numbers[i]) << i;
  EXPECT_GT(now.numbers[1], 0.5);  // it was clipped
  EXPECT_LT(Distance(deferred.weights, now.weights), 1e-5);
  EXPECT_LT(Distance(deferred.average, now.average), 1e-5);
  EXPECT_TRUE(again.weights.equal(deferred.weights));
  EXPECT_TRUE(again.average.equal(deferred.average));
}

TEST(LearnerTest, GradientsAreTheMeanLoss) {
  SmallTask task;
  Learner learner(&task, {}, {2});
  const GlobalBatch batch = Together({RandomBatch(6, 1), RandomBatch(4, 2)});
  const LossAndNorm found = learner.Read(learner.Backward(batch, 0));
  torch::Tensor sum = torch::zeros({});
  const auto whole = CutIntoShards(batch, {}, [](const Example&) { return 1; });
  for (const Shard& shard : whole[0]) sum = sum + task.Loss(shard, 0);
  (sum / static_cast<double>(batch.targets)).backward();
  EXPECT_NEAR(found.loss, sum.item<double>() / static_cast<double>(batch.targets),
              1e-5 * found.loss);
  double squares = 0;
  const FlatLayout& layout = learner.parameters().layout();
  for (size_t i = 0; i < layout.entries.size(); ++i) {
    const torch::Tensor expected = learner.parameters().tensors()[i].grad();
    const torch::Tensor gradient =
        FlatLayout::View(learner.parameters().gradients(), layout.entries[i]);
    EXPECT_LT((gradient - expected).abs().max().item<double>(), 1e-6) << layout.entries[i].name;
    squares += expected.square().sum().item<double>();
  }
  EXPECT_NEAR(found.norm, std::sqrt(squares), 1e-5 * found.norm);
}

TEST(LearnerTest, FrozenParametersStayAndTheOthersLearn) {
  SmallTask task;
  std::map<std::string, torch::Tensor> before;
  size_t frozen = 0;
  for (auto& parameter : task.module().named_parameters()) {
    before[parameter.key()] = parameter.value().detach().clone();
    if (!parameter.key().starts_with("encoder.")) continue;
    parameter.value().set_requires_grad(false);
    ++frozen;
  }
  ASSERT_GT(frozen, 0u);
  OptimizationOptions options;
  options.weight_decay = 0.1;  // would move them
  Learner learner(&task, options, {2});
  const std::vector<FlatLayout::Entry>& entries = learner.parameters().layout().entries;
  EXPECT_EQ(entries.size(), before.size() - frozen);
  for (const FlatLayout::Entry& entry : entries) EXPECT_FALSE(entry.name.starts_with("encoder."));
  learner.Apply(learner.Backward(Together({RandomBatch(6, 1)}), 0), /*learning_rate=*/0.1, 1);
  for (const auto& parameter : task.module().named_parameters()) {
    EXPECT_EQ(parameter.value().equal(before[parameter.key()]),
              parameter.key().starts_with("encoder."))
        << parameter.key();
  }
}

TEST(LearnerTest, WhatAThreadThrowsReachesTheCallerAndTheNextUpdateIsWell) {
  SmallTask task;
  Learner learner(&task, {}, {2});
  const GlobalBatch batch = Together({RandomBatch(6, 1)});
  const double loss = learner.Read(learner.Backward(batch, 0)).loss;
  for (const Example example : batch.batches[0].examples()) {
    const int64_t line = example.origin().line;
    task.bad_line = line;
    try {
      learner.Backward(batch, 0);
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("line has no loss"));
      task.bad_line = -2;
    }
    if (line > 0 && task.bad_line == -2) break;  // the second thread's
    EXPECT_TRUE(line > 0 || task.bad_line == -2);
  }
  EXPECT_EQ(task.bad_line, -2);
  EXPECT_EQ(learner.Read(learner.Backward(batch, 0)).loss, loss);
}

}  // namespace
}  // namespace attend
