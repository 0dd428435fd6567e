#include "train/loop/learner.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <utility>

#include "attend/error.h"
#include "train/device/environment.h"

namespace attend {
namespace {

// Elements of a slice: few enough that weights, gradients and moments stay in a core's cache from
// one operation to the next. Results do not depend on the number of threads that share the slices.
constexpr int64_t kSliceElements = int64_t{1} << 16;
constexpr int64_t kShareAlignment = 16;  // elements: 64 bytes

// Whose backward pass the calling thread makes. A GPU's runs on a thread of LibTorch's and belongs
// to the only part.
thread_local int64_t current_part = 0;

}  // namespace

Learner::Learner(TrainingTask* task, const OptimizationOptions& options, const UpdateMode& mode,
                 std::shared_ptr<ProcessGroup> group)
    : task_(task),
      options_(options),
      mode_(mode),
      group_(std::move(group)),
      pool_(mode.threads),
      parameters_(&task->module()),
      share_(ShareOf(group_->rank())),
      adam_(MakeAdamState(Cut(parameters_.weights(), share_))) {
  if (options_.ema_decay > 0) average_ = Cut(parameters_.weights(), share_).clone();
  std::vector<torch::Tensor> gradients{parameters_.gradients()};
  while (std::ssize(gradients) < pool_.size())
    gradients.push_back(torch::zeros_like(parameters_.gradients()));
  for (const torch::Tensor& each : gradients) parts_.push_back({each});
  for (const FlatLayout::Entry& entry : parameters_.layout().entries)
    gradients_.push_back(FlatLayout::View(parameters_.gradients(), entry));
  for (int64_t i = 0; i < std::ssize(parameters_.tensors()); ++i) {
    hooks_.push_back(parameters_.tensors()[i].register_hook(
        [this, i](const torch::Tensor& gradient) { Take(i, gradient); }));
  }
  own_losses_ = torch::zeros({1}, parameters_.gradients().options().dtype(torch::kFloat64));
  if (!group_->alone())
    reducer_.emplace(parameters_.layout(), gradients, group_.get(), mode.bucket_elements);
}

Learner::~Learner() {
  for (size_t i = 0; i < hooks_.size(); ++i) parameters_.tensors()[i].remove_hook(hooks_[i]);
}

UpdateOutcome Learner::Backward(const GlobalBatch& batch, uint64_t seed) {
  const std::vector<std::vector<Shard>> shards =
      CutIntoShards(batch, {group_->size(), pool_.size()},
                    [this](const Example& example) { return task_->Work(example); });
  const int64_t first = group_->rank() * pool_.size();
  std::vector<torch::Tensor> losses(pool_.size());
  const double begin = mode_.now();
  if (reducer_) reducer_->Begin();
  ParallelForTorch(&pool_, pool_.size(), [&](int64_t part) {
    losses[part] =
        BackwardPart(part, shards[first + part], seed, static_cast<double>(batch.targets));
  });
  const double computed = mode_.now();
  if (reducer_) reducer_->Wait();
  const double waited = mode_.now();
  const torch::Tensor norms = AddUpGradients();
  for (int64_t part = 1; part < pool_.size(); ++part) losses[0].add_(losses[part]);
  if (!group_->alone()) {
    work_.computing_seconds += computed - begin;
    work_.waiting_seconds += waited - computed;
    for (int64_t part = first; part < first + pool_.size(); ++part) {
      for (const Shard& shard : shards[part])
        work_.targets += static_cast<double>(task_->CountTargets(shard.examples));
    }
    own_losses_.add_(losses[0], static_cast<double>(batch.targets));
  }
  group_->BeginSum(losses[0])();
  return UpdateOutcome(torch::cat({losses[0], norms}));
}

torch::Tensor Learner::BackwardPart(int64_t index, const std::vector<Shard>& shards, uint64_t seed,
                                    double targets) {
  Part& part = parts_[index];
  part.gradients.zero_();
  current_part = index;
  torch::Tensor loss = torch::zeros({1}, part.gradients.options().dtype(torch::kFloat64));
  for (const Shard& shard : shards) {
    const torch::Tensor normalized = task_->Loss(shard, seed) / targets;
    loss.add_(normalized.detach());
    part.open = true;
    part.last = &shard == &shards.back();
    // The hooks take the gradients, each as soon as it is there.
    torch::autograd::grad({normalized}, parameters_.tensors(), {}, /*retain_graph=*/{},
                          /*create_graph=*/false, /*allow_unused=*/true);
    part.open = false;
  }
  if (reducer_) reducer_->AllReady(index);
  return loss;
}

void Learner::Take(int64_t parameter, const torch::Tensor& gradient) {
  const Part& part = parts_[current_part];
  if (!part.open || !gradient.defined()) return;
  FlatLayout::View(part.gradients, parameters_.layout().entries[parameter]).add_(gradient);
  if (part.last && reducer_) reducer_->Ready(current_part, parameter);
}

torch::Tensor Learner::AddUpGradients() {
  const size_t parts = reducer_ ? 1 : parts_.size();  // which has added up the others already
  const int64_t size = parameters_.layout().size;
  std::vector<double> squares(SlicesOf(size));
  ForEachSlice(size, [&](int64_t index, const Slice& slice) {
    torch::Tensor sum = slice(parts_[0].gradients);
    for (size_t part = 1; part < parts; ++part) sum.add_(slice(parts_[part].gradients));
    if (mode_.deferred) return;
    const double norm = sum.norm().item<double>();
    squares[index] = norm * norm;
  });
  if (mode_.deferred) {
    const torch::Tensor norms_P = torch::stack(at::_foreach_norm(gradients_)).to(torch::kFloat64);
    return torch::cat({norms_P.norm().view(1), norms_P});
  }
  const double norm = std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
  return torch::full({1}, norm, torch::kFloat64);
}

RankWork Learner::TakeWork() {
  work_.loss = own_losses_.item<double>();
  own_losses_.zero_();
  return std::exchange(work_, {});
}

LossAndNorm Learner::Read(const UpdateOutcome& outcome) const {
  const double* numbers = outcome.arriving.Wait().const_data_ptr<double>();
  LossAndNorm found{numbers[0], numbers[1], ""};
  if (std::isfinite(found.norm)) return found;
  if (!mode_.deferred) {
    found.bad_parameter = parameters_.FirstNonFiniteGradient();
    return found;
  }
  const std::vector<FlatLayout::Entry>& entries = parameters_.layout().entries;
  for (size_t p = 0; p < entries.size() && found.bad_parameter.empty(); ++p) {
    if (!std::isfinite(numbers[2 + p])) found.bad_parameter = entries[p].name;
  }
  return found;
}

void Learner::Apply(const UpdateOutcome& outcome, double learning_rate, int64_t step) {
  const AdamOptions adam{options_.adam_beta1, options_.adam_beta2, options_.adam_epsilon,
                         options_.weight_decay};
  StepDecision decision;
  double norm = 0;
  if (mode_.deferred) {
    decision = DecideStep(outcome.numbers[1], options_.clip_norm,
                          outcome.numbers.narrow(0, 0, 2).isfinite());
  } else {
    const LossAndNorm found = Read(outcome);
    if (!found.finite()) return;
    norm = found.norm;
  }
  const torch::Tensor own_gradients = Cut(parameters_.gradients(), share_),
                      own_weights = Cut(parameters_.weights(), share_);
  ForEachSlice(share_.size, [&](int64_t, const Slice& slice) {
    torch::Tensor gradients = slice(own_gradients), weights = slice(own_weights);
    AdamState state{slice(adam_.first_moment), slice(adam_.second_moment), step - 1};
    if (!mode_.deferred) ClipGradients(norm, options_.clip_norm, &gradients);
    AdamStep(adam, learning_rate, gradients, &weights, &state, decision);
    if (!average_.defined()) return;
    torch::Tensor average = slice(average_);
    UpdateEma(options_.ema_decay, step, weights, &average, decision);
  });
  if (options_.shard_optimizer) SpreadWeights();
}

void Learner::SpreadWeights() {
  std::vector<ProcessGroup::Pending> pending;
  for (int64_t rank = 0; rank < group_->size(); ++rank) {
    const Share share = ShareOf(rank);
    if (share.size > 0)
      pending.push_back(group_->BeginBroadcast(Cut(parameters_.weights(), share), rank));
  }
  for (const ProcessGroup::Pending& wait : pending) wait();
}

Learner::Share Learner::ShareOf(int64_t rank) const {
  const int64_t size = parameters_.layout().size;
  if (!options_.shard_optimizer) return {0, size};
  const int64_t unit = group_->size() * kShareAlignment;
  const int64_t length = (size + unit - 1) / unit * kShareAlignment;
  const int64_t begin = std::min(rank * length, size);
  return {begin, std::min(length, size - begin)};
}

int64_t Learner::optimizer_bytes() const {
  int64_t bytes = 0;
  for (const torch::Tensor& held : {adam_.first_moment, adam_.second_moment, average_}) {
    if (held.defined()) bytes += static_cast<int64_t>(held.storage().nbytes());
  }
  return bytes;
}

bool Learner::IsCut(Buffer buffer) const {
  return buffer != Buffer::kWeights && ShareOf(0).size < parameters_.layout().size;
}

torch::Tensor Learner::Cut(const torch::Tensor& flat, const Share& share) {
  return flat.narrow(0, share.begin, share.size);
}

torch::Tensor& Learner::TensorOf(Buffer buffer) {
  switch (buffer) {
    case Buffer::kWeights:
      return parameters_.weights();
    case Buffer::kFirstMoment:
      return adam_.first_moment;
    case Buffer::kSecondMoment:
      return adam_.second_moment;
    default:
      return average_;
  }
}

torch::Tensor Learner::Whole(Buffer buffer) {
  const torch::Tensor& own = TensorOf(buffer);
  if (!own.defined()) return {};
  if (!IsCut(buffer)) return group_->first() ? own.cpu() : torch::Tensor();
  if (!group_->first()) {
    if (share_.size > 0) group_->BeginSend(own, 0)();
    return {};
  }
  const torch::Tensor whole = torch::empty_like(parameters_.weights());
  Cut(whole, share_).copy_(own);
  for (int64_t rank = 1; rank < group_->size(); ++rank) {
    const Share share = ShareOf(rank);
    if (share.size > 0) group_->BeginReceive(Cut(whole, share), rank)();
  }
  return whole.cpu();
}

void Learner::Load(Buffer buffer, const std::function<void(torch::Tensor* whole)>& read) {
  torch::Tensor& own = TensorOf(buffer);
  if (!own.defined()) return;
  // Gradients are of no use between updates.
  torch::Tensor whole = IsCut(buffer) ? parameters_.gradients() : own;
  if (group_->first()) read(&whole);
  group_->BeginBroadcast(whole, 0)();
  if (IsCut(buffer)) own.copy_(Cut(whole, share_));
}

int64_t Learner::SlicesOf(int64_t size) const {
  if (!parameters_.weights().is_cpu()) return 1;
  return (size + kSliceElements - 1) / kSliceElements;
}

void Learner::ForEachSlice(int64_t size,
                           const std::function<void(int64_t index, const Slice& slice)>& body) {
  const int64_t length = SlicesOf(size) == 1 ? size : kSliceElements;
  ParallelForTorch(&pool_, SlicesOf(size), [&](int64_t index) {
    const torch::NoGradGuard no_grad;
    const int64_t begin = index * length;
    body(index, [&](const torch::Tensor& flat) {
      return flat.narrow(0, begin, std::min(length, size - begin));
    });
  });
}

}  // namespace attend
