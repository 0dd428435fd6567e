// What training tasks share whose model is a Transformer with one stack.
#ifndef ATTEND_TRAIN_TASKS_MODEL_TASK_H_
#define ATTEND_TRAIN_TASKS_MODEL_TASK_H_

#include <optional>

#include "attend/nn/loss.h"
#include "attend/nn/torch.h"
#include "attend/nn/transformer.h"
#include "train/loop/task.h"
#include "train/loop/transfer.h"
#include "train/set_up.h"
#include "train/train_options.h"

namespace attend {

class ModelTask : public TrainingTask {
 public:
  // The setup's options are complete.
  explicit ModelTask(const TaskSetup& setup);

  torch::nn::Module& module() override { return *transformer_; }
  torch::Tensor Loss(const Shard& shard, uint64_t seed) override;
  int64_t Choices() const override { return options_.model.head_width(); }

 protected:
  // `dropout`: TransformerImpl::PackedEncode's or PackedHidden's; none where nothing is dropped.
  virtual nn::LossSums LossOf(const Examples& examples,
                              const std::optional<nn::DropoutKey>& dropout) = 0;
  // What a pass over the shard draws its dropout from.
  virtual nn::DropoutKey KeyOf(const Shard& shard, uint64_t seed) const = 0;

  const ModelConfig& config() const { return options_.model; }

  const TrainOptions options_;
  const int threads_;
  const torch::Device device_;
  nn::Transformer transformer_;
  nn::LabelSmoothingLoss loss_;
  Uploader uploader_;
};

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_MODEL_TASK_H_
