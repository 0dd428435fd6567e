#include "train/speed.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "train/environment.h"

namespace attend {

namespace {

struct ProductShape {
  int64_t rows, width;
};

// Large enough for the device's best, and small enough to take no longer than that needs.
ProductShape ShapeFor(const torch::TensorOptions& options) {
  if (!options.device().is_cpu()) return {16384, 8192};
  const bool slow = options.dtype() == torch::kBFloat16 && !CpuHasBf16();
  return {slow ? 16 : 2048, 1024};
}

}  // namespace

TrainingSpeed MeasureUpdates(const SpeedPlan& plan, TrainingTask* task, Learner* learner,
                             BatchStream* batches, const std::function<double()>& now) {
  TrainingSpeed speed;
  std::optional<Findings> before;  // what is read while the next update is under way
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
    for (const Batch& each : batch.batches) batch.targets += task->CountTargets(each);
    Findings findings = learner->Backward(batch, /*seed=*/static_cast<uint64_t>(i));
    if (before) learner->Read(*before);
    learner->Apply(findings, /*learning_rate=*/0, /*step=*/i + 1);
    before = std::move(findings);
    if (i < plan.warm_up) continue;
    ++speed.updates;
    speed.data_seconds += waited;
    speed.target_tokens += batch.targets;
    for (const Batch& each : batch.batches) {
      for (const Example& example : each.examples)
        speed.source_tokens += std::ssize(example.columns[0]);
    }
  }
  if (before) learner->Read(*before);
  speed.seconds = std::max(now() - start, 1e-9);
  return speed;
}

double MeasureProductRate(int threads, const torch::TensorOptions& options,
                          const std::function<double()>& now) {
  constexpr int kTimes = 10;
  const ProductShape shape = ShapeFor(options);
  const torch::Tensor a = torch::randn({shape.rows, shape.width}, options),
                      b = torch::randn({shape.width, shape.width}, options);
  const double operations = 2.0 * static_cast<double>(shape.rows * shape.width * shape.width);
  std::vector<double> best(threads);
  ThreadPool pool(threads);
  ParallelForTorch(&pool, threads, [&](int64_t thread) {
    for (int i = 0; i < kTimes; ++i) {
      const double start = now();
      Download(torch::mm(a, b).view(-1).narrow(0, 0, 1)).Wait();
      best[thread] = std::max(best[thread], operations / (now() - start));
    }
  });
  return std::accumulate(best.begin(), best.end(), 0.0);
}

}  // namespace attend
