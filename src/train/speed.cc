#include "train/speed.h"

#include <algorithm>
#include <numeric>

#include "model/tensor_table.h"
#include "train/environment.h"

namespace attend {
namespace {

bool IsTable(const std::string& name) {
  return name.ends_with(".embedding.weight") || name.ends_with(".positions.weight") ||
         name == "head.weight";
}

// The encoder's, and what the decoder computes of the encoder's output.
bool MeetsSource(const std::string& name) {
  return name.starts_with("encoder.") || name.find(".cross_attention.key.") != std::string::npos ||
         name.find(".cross_attention.value.") != std::string::npos;
}

}  // namespace

TrainingSpeed MeasureUpdates(const SpeedPlan& plan, TrainingTask* task, Learner* learner,
                             BatchStream* batches, const std::function<double()>& now) {
  TrainingSpeed speed;
  double start = now();
  for (int64_t i = 0; i < plan.warm_up + plan.updates; ++i) {
    if (i == plan.warm_up) start = now();
    const double asked = now();
    GlobalBatch batch{{batches->Next()}};
    const double waited = now() - asked;
    batch.targets = task->CountTargets(batch.batches[0]);
    const LossAndNorm found = learner->Backward(batch, /*seed=*/static_cast<uint64_t>(i));
    learner->Apply(found.norm, /*learning_rate=*/0);
    if (i < plan.warm_up) continue;
    ++speed.updates;
    speed.data_seconds += waited;
    speed.target_tokens += batch.targets;
    for (const Example& example : batch.batches[0].examples)
      speed.source_tokens += std::ssize(example.columns[0]);
  }
  speed.seconds = std::max(now() - start, 1e-9);
  return speed;
}

double ProductOperations(const ModelConfig& config, int64_t source_tokens, int64_t target_tokens) {
  const auto source = static_cast<double>(source_tokens),
             target = static_cast<double>(target_tokens);
  double multiply_adds =
      target * static_cast<double>(config.target_vocab_size * config.decoder->d_model);
  for (const TensorSpec& tensor : ExpectedTensors(config)) {
    if (tensor.shape.size() != 2 || IsTable(tensor.name)) continue;
    multiply_adds += static_cast<double>(tensor.shape[0] * tensor.shape[1]) *
                     (MeetsSource(tensor.name) ? source : target);
  }
  constexpr double kForwardAndBackward = 3;
  return 2 * kForwardAndBackward * multiply_adds;
}

double MeasureProductRate(int threads, const std::function<double()>& now) {
  constexpr int kTimes = 10;
  constexpr int64_t kRows = 2048, kWidth = 1024;
  const torch::Tensor a = torch::randn({kRows, kWidth}), b = torch::randn({kWidth, kWidth});
  std::vector<double> best(threads);
  ThreadPool pool(threads);
  ParallelForTorch(&pool, threads, [&](int64_t thread) {
    for (int i = 0; i < kTimes; ++i) {
      const double start = now();
      torch::mm(a, b);
      best[thread] = std::max(best[thread], 2.0 * kRows * kWidth * kWidth / (now() - start));
    }
  });
  return std::accumulate(best.begin(), best.end(), 0.0);
}

}  // namespace attend
