// What the training loop knows of a task: examples, a module, a loss to make smaller and a way to
// measure.
#ifndef ATTEND_TRAIN_LOOP_TASK_H_
#define ATTEND_TRAIN_LOOP_TASK_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "attend/nn/torch.h"
#include "data/shard.h"

namespace attend {

// One validation. `metrics` has "loss" (a target's, without smoothing) and what else the task
// measures.
struct ValidationResult {
  std::map<std::string, double> metrics;
  struct Sample {
    std::string input, reference, output;
  };
  std::vector<Sample> samples;  // a few, the same ones each time
};

// Used by one thread at a time, but for examples(), which worker threads read, and Loss.
class TrainingTask {
 public:
  virtual ~TrainingTask() = default;

  virtual const ExampleSource& examples() const = 0;
  // The module that is trained; the same one for as long as the task lives.
  virtual torch::nn::Module& module() = 0;
  // Targets of a batch, known without computing anything.
  virtual int64_t CountTargets(const Batch& batch) const = 0;
  // Floating-point operations of the matrix products that training on an example needs (a
  // multiplication and an addition are two): what shards are balanced by, and speed is told in.
  virtual double Work(const Example& example) const = 0;
  // The differentiable loss of a shard, summed over its targets, by the module as it stands; the
  // loop divides by the targets of the whole update. Random choices follow from `seed` and the
  // shard's place. Called by many threads at once.
  virtual torch::Tensor Loss(const Shard& shard, uint64_t seed) = 0;
  // There is something to validate on.
  virtual bool CanValidate() const = 0;
  // Measures the module as it stands, without dropout and without touching LibTorch's generator.
  virtual ValidationResult Validate() = 0;
};

}  // namespace attend

#endif  // ATTEND_TRAIN_LOOP_TASK_H_
