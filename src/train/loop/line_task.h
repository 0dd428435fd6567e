// A training task of a few numbers, for tests of the training loop: fit y = a x, one weight,
// batches of given numbers.
#ifndef ATTEND_TRAIN_LOOP_LINE_TASK_H_
#define ATTEND_TRAIN_LOOP_LINE_TASK_H_

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "attend/error.h"
#include "base/random.h"
#include "data/example_fixture.h"
#include "train/device/environment.h"
#include "train/logs/metrics_log.h"
#include "train/loop/loop_task.h"
#include "train/loop/trainer.h"

namespace attend {

class Numbers : public ExampleSource {
 public:
  Numbers() {
    for (int32_t i = 0; i < 24; ++i) AddExample({0, i}, {{i % 5 + 1}}, &table_);
  }
  std::unique_ptr<WindowReader> Open(int64_t epoch, const WindowStart&,
                                     const WindowPart&) const override {
    return OpenTable(&table_, epoch);
  }
  std::string Where(const Origin& origin) const override {
    return "numbers:" + std::to_string(origin.line + 1);
  }

 private:
  ExampleTable table_ = IdTable(1);
};

class LineModule : public torch::nn::Module {
 public:
  LineModule() { a = register_parameter("a", torch::zeros({1})); }
  torch::Tensor a;
};

// The loss of y = 3 x with noise keyed as dropout is.
class LineTask : public LoopTask {
 public:
  const ExampleSource& examples() const override { return numbers_; }
  torch::nn::Module& module() override { return module_; }
  int64_t CountTargets(const Examples& examples) const override { return examples.size(); }
  double Work(const Example&) const override { return 1; }
  torch::Tensor Loss(const Shard& shard, uint64_t seed) override {
    const std::lock_guard lock(mutex_);
    ++losses;
    trained_in_training_mode &= module_.is_training();
    torch::Tensor sum = torch::zeros({1});
    auto position = static_cast<uint64_t>(shard.examples_before);
    for (const Example example : shard.examples) {
      const double x = example.Ids(0)[0];
      const double noise = Random{seed, position++}.Normal();
      drawn.insert(noise);
      sum = sum + (module_.a * x - 3 * x - 0.01 * noise).square();
    }
    if (bad.count(losses) > 0) sum = sum * std::nan("");
    sums.push_back(sum.item<double>());
    return sum.sum();
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
  TrainerTest() : root_(std::filesystem::path(testing::TempDir()) / "trainer_test") {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
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
  ~TrainerTest() override { std::filesystem::remove_all(root_); }

  RunIdentity Identity() {
    return {FieldsToJson(RecordedFields(options_)),
            {{"name", "line"}},
            {{"numbers", "digest"}},
            {{"threads", 1}},
            Json::object()};
  }
  // A start of the program on `task`.
  TrainOutcome Run(LineTask* task) {
    std::filesystem::create_directories(options_.output);
    Trainer trainer(task, options_, Identity(), effects_, mode_);
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
  std::vector<Json> Metrics(const std::string& file = "metrics.jsonl") {
    std::vector<Json> lines;
    ForEachMetric(std::filesystem::path(options_.output) / file,
                  [&](const Json& line) { lines.push_back(line); });
    return lines;
  }

  std::filesystem::path root_;
  TrainOptions options_;
  TrainerEffects effects_;
  UpdateMode mode_;
  TrainState state_;
  std::vector<std::filesystem::path> averaged_;
  std::vector<std::string> warnings_;
};

}  // namespace attend

#endif  // ATTEND_TRAIN_LOOP_LINE_TASK_H_
