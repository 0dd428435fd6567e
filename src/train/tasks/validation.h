// How a module is measured: batch by batch, on all threads.
#ifndef ATTEND_TRAIN_TASKS_VALIDATION_H_
#define ATTEND_TRAIN_TASKS_VALIDATION_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "attend/nn/loss.h"
#include "attend/nn/torch.h"
#include "base/thread_pool.h"
#include "data/batch_plan.h"
#include "nn/bf16_products.h"
#include "train/device/environment.h"
#include "train/train_options.h"

namespace attend {

// What `measure` gives for the rows of each batch, in the order of the batches, which the options
// alone decide. Called by up to `threads` threads at once, without gradients, in training's
// precision.
template <class Result>
std::vector<Result> MeasureBatches(
    const ExampleTable& table, const OptimizationOptions& options, const torch::Device& device,
    int threads, const std::function<Result(std::span<const int64_t> rows)>& measure) {
  const BatchPlan batches = BatchesByLength(table, {.tokens = options.batch_tokens});
  std::vector<Result> results(batches.size());
  ThreadPool pool(device.is_cpu() ? threads : 1);
  ParallelForTorch(&pool, std::ssize(batches), [&](int64_t batch) {
    const torch::NoGradGuard no_grad;
    const nn::Bf16Products bf16(device, options.Bf16Products());
    results[batch] = measure(batches[batch]);
  });
  return results;
}

// Numbers below `size` at equal distances, at most eight: what a report shows of a validation text,
// which may be sorted.
inline std::vector<int64_t> ShownOf(int64_t size) {
  const int64_t count = std::min<int64_t>(8, size);
  std::vector<int64_t> shown;
  for (int64_t i = 0; i < count; ++i) shown.push_back(i * size / count);
  return shown;
}

// Of a target of all batches, without smoothing.
inline double MeanLoss(const std::vector<nn::LossSums>& batches) {
  double nll = 0;
  int64_t tokens = 0;
  for (const nn::LossSums& batch : batches) {
    nll += batch.nll.item<double>();
    tokens += batch.tokens;
  }
  return nll / static_cast<double>(tokens);
}

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_VALIDATION_H_
