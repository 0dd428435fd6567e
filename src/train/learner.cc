#include "train/learner.h"

#include <cmath>
#include <numeric>

#include "train/environment.h"

namespace attend {
namespace {

// Elements of a slice: few enough that weights, gradients and moments stay in a core's cache from
// one operation to the next. Results do not depend on the number of threads that share the slices.
constexpr int64_t kSliceElements = int64_t{1} << 16;

}  // namespace

Learner::Learner(TrainingTask* task, const OptimizationOptions& options, int threads)
    : task_(task),
      options_(options),
      pool_(threads),
      parameters_(&task->module()),
      adam_(MakeAdamState(parameters_.weights())),
      gradients_{parameters_.gradients()} {
  if (options_.ema_decay > 0) average_ = parameters_.weights().clone();
  while (std::ssize(gradients_) < pool_.size())
    gradients_.push_back(torch::zeros_like(parameters_.gradients()));
}

LossAndNorm Learner::Backward(const GlobalBatch& batch, uint64_t seed) {
  const std::vector<std::vector<Shard>> shards = CutIntoShards(
      batch, pool_.size(), [this](const Example& example) { return task_->Work(example); });
  std::vector<double> losses(shards.size());
  ParallelForTorch(&pool_, std::ssize(shards), [&](int64_t part) {
    losses[part] =
        BackwardPart(shards[part], seed, static_cast<double>(batch.targets), &gradients_[part]);
  });
  const double norm = AddUpGradients();
  return {std::accumulate(losses.begin(), losses.end(), 0.0), norm};
}

double Learner::BackwardPart(const std::vector<Shard>& shards, uint64_t seed, double targets,
                             torch::Tensor* gradients) {
  gradients->zero_();
  double loss = 0;
  for (const Shard& shard : shards) {
    const torch::Tensor normalized = task_->Loss(shard, seed).sum / targets;
    loss += normalized.item<double>();
    const std::vector<torch::Tensor> found =
        torch::autograd::grad({normalized}, parameters_.tensors(), {}, /*retain_graph=*/{},
                              /*create_graph=*/false, /*allow_unused=*/true);
    for (size_t i = 0; i < found.size(); ++i) {
      if (found[i].defined())
        FlatLayout::View(*gradients, parameters_.layout().entries[i]).add_(found[i]);
    }
  }
  return loss;
}

double Learner::AddUpGradients() {
  std::vector<double> squares(slices());
  ForEachSlice([&](int64_t index, const Slice& slice) {
    torch::Tensor sum = slice(gradients_[0]);
    for (size_t part = 1; part < gradients_.size(); ++part) sum.add_(slice(gradients_[part]));
    const double norm = sum.norm().item<double>();
    squares[index] = norm * norm;
  });
  return std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
}

void Learner::Apply(double norm, double learning_rate) {
  const AdamOptions adam{options_.adam_beta1, options_.adam_beta2, options_.adam_epsilon,
                         options_.weight_decay};
  const int64_t steps = adam_.steps;
  ForEachSlice([&](int64_t, const Slice& slice) {
    torch::Tensor gradients = slice(parameters_.gradients()),
                  weights = slice(parameters_.weights());
    AdamState state{slice(adam_.first_moment), slice(adam_.second_moment), steps};
    ClipGradients(norm, options_.clip_norm, &gradients);
    AdamStep(adam, learning_rate, gradients, &weights, &state);
    if (!average_.defined()) return;
    torch::Tensor average = slice(average_);
    UpdateEma(options_.ema_decay, state.steps, weights, &average);
  });
  ++adam_.steps;
}

int64_t Learner::slices() const {
  if (!parameters_.weights().is_cpu()) return 1;
  return (parameters_.layout().size + kSliceElements - 1) / kSliceElements;
}

void Learner::ForEachSlice(const std::function<void(int64_t index, const Slice& slice)>& body) {
  const int64_t size = parameters_.layout().size;
  const int64_t length = slices() == 1 ? size : kSliceElements;
  ParallelForTorch(&pool_, slices(), [&](int64_t index) {
    const torch::NoGradGuard no_grad;
    const int64_t begin = index * length;
    body(index, [&](const torch::Tensor& flat) {
      return flat.narrow(0, begin, std::min(length, size - begin));
    });
  });
}

}  // namespace attend
