// What training knows of a task: for the loop examples, a module, a loss to make smaller and a way
// to measure; for a whole run what its data are, and how the finished model is tested.
#ifndef ATTEND_TRAIN_LOOP_TASK_H_
#define ATTEND_TRAIN_LOOP_TASK_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "attend/nn/torch.h"
#include "base/json.h"
#include "base/log.h"
#include "data/corpus_report.h"
#include "data/shard.h"
#include "model/model_directory.h"
#include "train/task_info.h"

namespace attend {

// One validation. `metrics` has "loss" (a target's, without smoothing) and what else the task
// measures.
struct ValidationResult {
  std::map<std::string, double> metrics;
  struct Sample {
    std::string input, reference, output;
    std::string picture = {};  // of the input, as the data URL of a PNG; empty: none
  };
  std::vector<Sample> samples;  // a few, the same ones each time
};

// What a test of an exported model is told.
struct TestSetting {
  std::shared_ptr<const Model> model;
  std::filesystem::path output;                  // the run's directory
  std::function<void(const std::string&)> tell;  // hears now and then how far it is
};

// Used by one thread at a time, but for examples(), which worker threads read, and Loss.
class TrainingTask {
 public:
  virtual ~TrainingTask() = default;

  virtual const TaskInfo& info() const = 0;

  // For the loop.
  virtual const ExampleSource& examples() const = 0;
  // The module that is trained; the same one for as long as the task lives.
  virtual torch::nn::Module& module() = 0;
  // Targets of examples, known without computing anything.
  virtual int64_t CountTargets(const Examples& examples) const = 0;
  // Floating-point operations of the matrix products that training on an example needs (a
  // multiplication and an addition are two): what shards are balanced by, and speed is told in.
  virtual double Work(const Example& example) const = 0;
  // The differentiable loss of a shard, summed over its targets, by the module as it stands; the
  // loop divides by the targets of the whole update. Random choices follow from `seed` and the
  // shard's position. Called by many threads at once.
  virtual torch::Tensor Loss(const Shard& shard, uint64_t seed) = 0;
  // There is something to validate on.
  virtual bool CanValidate() const = 0;
  // Measures the module as it stands, without dropout and without touching LibTorch's generator.
  virtual ValidationResult Validate() = 0;

  // For a run. On every rank: the SHA-256 of each text and vocabulary, by its name for people.
  virtual Json Digests() const = 0;
  // What TrainableTask::complete_model will have to know.
  virtual Json ForExport() const = 0;
  // Writes the files that it will need into the run's directory.
  virtual void SaveFiles(const std::filesystem::path& directory) const = 0;
  // Says what was read.
  virtual void Describe(const Log& log) const = 0;
  // Reads all data once more; warns of what does not do for training or for judging, and throws
  // Error(kInput) for what must be a mistake. Returns counts for programs.
  virtual Json CheckData(const Log& log) const = 0;
  // What a dry run says of the data; `read`: of an epoch whose text was read as it went.
  virtual Json Plan(const CorpusReport& read) const = 0;
  // A target is one of so many.
  virtual int64_t Choices() const = 0;
  // Scores an exported model on the test set, and keeps its outputs. Null without one.
  virtual Json Test(const TestSetting& setting) = 0;
};

}  // namespace attend

#endif  // ATTEND_TRAIN_LOOP_TASK_H_
