#include "train/speed.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "train/environment.h"

namespace attend {

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
    GlobalBatch batch{{batches->Next()}};
    const double waited = now() - asked;
    batch.targets = task->CountTargets(batch.batches[0]);
    Findings findings = learner->Backward(batch, /*seed=*/static_cast<uint64_t>(i));
    if (before) learner->Read(*before);
    learner->Apply(findings, /*learning_rate=*/0, /*step=*/i + 1);
    before = std::move(findings);
    if (i < plan.warm_up) continue;
    ++speed.updates;
    speed.data_seconds += waited;
    speed.target_tokens += batch.targets;
    for (const Example& example : batch.batches[0].examples)
      speed.source_tokens += std::ssize(example.columns[0]);
  }
  if (before) learner->Read(*before);
  speed.seconds = std::max(now() - start, 1e-9);
  return speed;
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
