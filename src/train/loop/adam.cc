#include "train/loop/adam.h"

#include <ATen/ops/_fused_adamw.h>

#include <algorithm>
#include <optional>

namespace attend {
namespace {

std::optional<torch::Tensor> Given(const torch::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

}  // namespace

AdamState MakeAdamState(const torch::Tensor& weights) {
  return {torch::zeros_like(weights), torch::zeros_like(weights), 0};
}

StepDecision DecideStep(const torch::Tensor& norm, double clip_norm, const torch::Tensor& finite) {
  const torch::NoGradGuard no_grad;
  StepDecision decision;
  if (clip_norm > 0) decision.divisor = (norm / clip_norm).clamp_min(1).to(torch::kFloat32);
  decision.skip = finite.all().logical_not().to(torch::kFloat32);
  return decision;
}

void AdamStep(const AdamOptions& options, double learning_rate, const torch::Tensor& gradients,
              torch::Tensor* weights, AdamState* state, const StepDecision& decision) {
  const torch::NoGradGuard no_grad;
  // The fused call takes the number of this step; on CPUs it does not count by itself.
  const torch::Tensor step =
      torch::full({}, static_cast<double>(++state->steps), weights->options());
  const std::vector<torch::Tensor> weight_list{*weights}, gradient_list{gradients},
      first{state->first_moment}, second{state->second_moment}, steps{step};
  at::_fused_adamw_(weight_list, gradient_list, first, second, /*max_exp_avg_sqs=*/{}, steps,
                    learning_rate, options.beta1, options.beta2, options.weight_decay,
                    options.epsilon, /*amsgrad=*/false, /*maximize=*/false, Given(decision.divisor),
                    Given(decision.skip));
}

void ClipGradients(double norm, double clip_norm, torch::Tensor* gradients) {
  if (clip_norm > 0 && norm > clip_norm) gradients->mul_(clip_norm / norm);
}

double EmaDecay(double decay, int64_t update) {
  const double count = static_cast<double>(update);
  return std::min(decay, (1 + count) / (10 + count));
}

void UpdateEma(double decay, int64_t update, const torch::Tensor& weights, torch::Tensor* average,
               const StepDecision& decision) {
  const torch::NoGradGuard no_grad;
  const double step = 1 - EmaDecay(decay, update);
  if (decision.skip.defined()) {
    average->lerp_(weights, (1 - decision.skip) * step);
  } else {
    average->lerp_(weights, step);
  }
}

}  // namespace attend
