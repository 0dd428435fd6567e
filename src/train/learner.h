// What an update does to the weights: gradients of a global batch, their norm, clipping, Adam and
// the moving average, by threads.
//
// Each thread takes a shard of every batch through the model, forward and backward, with gradients
// of its own, which are then added in the order of the shards. With the same number of threads the
// bits are the same every time; with another number they differ by the rounding of sums.
#ifndef ATTEND_TRAIN_LEARNER_H_
#define ATTEND_TRAIN_LEARNER_H_

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "base/thread_pool.h"
#include "data/shard.h"
#include "train/adam.h"
#include "train/parameters.h"
#include "train/task.h"
#include "train/train_options.h"

namespace attend {

// Of one update; not finite where something went wrong.
struct LossAndNorm {
  double loss = 0;  // a target's
  double norm = 0;  // of the gradient
};

// Owns the weights that the task's module is a view of. One caller. LibTorch's own threads should
// be off (SetUpTorch(1)).
class Learner {
 public:
  // `task` must outlive the learner.
  Learner(TrainingTask* task, const OptimizationOptions& options, int threads);

  // Puts the gradient of the batch's mean loss into parameters().gradients(). Random choices follow
  // from `seed` and the places in the batch. Throws what a thread threw.
  LossAndNorm Backward(const GlobalBatch& batch, uint64_t seed);
  // Clips the gradient, whose norm is given, takes Adam's step and moves the average.
  void Apply(double norm, double learning_rate);

  Parameters& parameters() { return parameters_; }
  AdamState& adam() { return adam_; }
  torch::Tensor& average() { return average_; }  // undefined without ema_decay

 private:
  double BackwardPart(const std::vector<Shard>& shards, uint64_t seed, double targets,
                      torch::Tensor* gradients);
  double AddUpGradients();
  // Calls body(slice) for the parts that cover all flat buffers; a slice is a function that takes
  // its part of a buffer.
  using Slice = std::function<torch::Tensor(const torch::Tensor& flat)>;
  void ForEachSlice(const std::function<void(int64_t index, const Slice& slice)>& body);
  int64_t slices() const;

  TrainingTask* task_;
  OptimizationOptions options_;
  ThreadPool pool_;
  Parameters parameters_;
  AdamState adam_;
  torch::Tensor average_;
  std::vector<torch::Tensor> gradients_;  // by part; the first is parameters_'s
};

}  // namespace attend

#endif  // ATTEND_TRAIN_LEARNER_H_
