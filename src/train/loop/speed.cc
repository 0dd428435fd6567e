#include "train/loop/speed.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "nn/fused/packed_factor.h"
#include "train/device/environment.h"

namespace attend {

namespace {

struct ProductShape {
  int64_t rows, width;
};

// Large enough for the device's best, and small enough to take no longer than that needs.
ProductShape ShapeFor(const torch::Tensor& x, torch::ScalarType type) {
  if (!x.is_cpu()) return {16384, 8192};
  const bool slow =
      type == torch::kBFloat16 && !nn::HasProductKernels(x, type) && !HasBf16Instructions();
  return {slow ? 16 : 1920, 960};
}

}  // namespace

TrainingSpeed MeasureUpdates(const SpeedPlan& plan, TrainingTask* task, Learner* learner,
                             BatchStream* batches, const std::function<double()>& now) {
  TrainingSpeed speed;
  std::optional<UpdateOutcome> before;  // what is read while the next update is under way
  double start = now();
  for (int64_t i = 0; i < plan.warm_up + plan.updates; ++i) {
    if (i == plan.warm_up) {
      if (before) learner->Read(*before);
      start = now();
    }
    const double asked = now();
    GlobalBatch batch;
    for (int64_t b = 0; b < plan.accumulate; ++b) batch.batches.push_back(batches->Next());
    const double waited = now() - asked;
    for (const Batch& each : batch.batches) batch.targets += task->CountTargets(each.examples());
    UpdateOutcome outcome = learner->Backward(batch, /*seed=*/static_cast<uint64_t>(i));
    if (before) learner->Read(*before);
    learner->Apply(outcome, /*learning_rate=*/0, /*step=*/i + 1);
    before = std::move(outcome);
    if (i < plan.warm_up) continue;
    ++speed.updates;
    speed.data_seconds += waited;
    speed.target_tokens += batch.targets;
    for (const Batch& each : batch.batches) {
      for (const Example example : each.examples()) {
        speed.input_tokens += example.Length(0);
        speed.operations += task->Work(example);
      }
    }
  }
  if (before) learner->Read(*before);
  speed.seconds = std::max(now() - start, 1e-9);
  return speed;
}

double MeasureProductRate(int threads, const torch::TensorOptions& options,
                          const std::function<double()>& now) {
  constexpr int kTimes = 10;
  // On CPUs f32 numbers are rounded as they are multiplied.
  const auto type = c10::typeMetaToScalarType(options.dtype());
  const torch::TensorOptions held =
      options.device().is_cpu() ? options.dtype(torch::kFloat32) : options;
  const ProductShape shape = ShapeFor(torch::empty({0}, held), type);
  const torch::Tensor a = torch::randn({shape.rows, shape.width}, held),
                      b = torch::randn({shape.width, shape.width}, held);
  const nn::PackedFactor factor(b, type);
  const double operations = 2.0 * static_cast<double>(shape.rows * shape.width * shape.width);
  std::vector<double> best(threads);
  ThreadPool pool(threads);
  ParallelForTorch(&pool, threads, [&](int64_t thread) {
    const torch::Tensor result = torch::empty_like(a);
    for (int i = 0; i < kTimes; ++i) {
      const double start = now();
      factor.Multiply(a, result);
      Download(result.view(-1).narrow(0, 0, 1)).Wait();
      best[thread] = std::max(best[thread], operations / (now() - start));
    }
  });
  return std::accumulate(best.begin(), best.end(), 0.0);
}

}  // namespace attend
