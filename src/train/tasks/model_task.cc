#include "train/tasks/model_task.h"

#include "nn/bf16_products.h"
#include "train/tasks/run_model.h"

namespace attend {

ModelTask::ModelTask(const TaskSetup& setup)
    : options_(*setup.options),
      threads_(setup.settings->threads),
      device_(setup.device),
      transformer_(MakeTransformer(options_, setup.device)),
      loss_(options_.optimization.label_smoothing, /*pad_id=*/-1,
            options_.optimization.label_smoothing_mass),
      uploader_(setup.device) {}

torch::Tensor ModelTask::Loss(const Shard& shard, uint64_t seed) {
  const nn::Bf16Products bf16(device_, options_.optimization.Bf16Products());
  // A GPU takes its numbers from LibTorch's generator.
  if (!device_.is_cpu()) {
    torch::manual_seed(seed + static_cast<uint64_t>(shard.examples_before));
    return LossOf(shard.examples, std::nullopt).loss;
  }
  return LossOf(shard.examples, KeyOf(shard, seed)).loss;
}

}  // namespace attend
