#include "train/adam.h"

#include <ATen/ops/_fused_adamw.h>

#include <algorithm>

namespace attend {

AdamState MakeAdamState(const torch::Tensor& weights) {
  return {torch::zeros_like(weights), torch::zeros_like(weights), 0};
}

void AdamStep(const AdamOptions& options, double learning_rate, const torch::Tensor& gradients,
              torch::Tensor* weights, AdamState* state) {
  const torch::NoGradGuard no_grad;
  // The fused call takes the number of this step; on CPUs it does not count by itself.
  const torch::Tensor step =
      torch::full({}, static_cast<double>(++state->steps), weights->options());
  const std::vector<torch::Tensor> weight_list{*weights}, gradient_list{gradients},
      first{state->first_moment}, second{state->second_moment}, steps{step};
  at::_fused_adamw_(weight_list, gradient_list, first, second, /*max_exp_avg_sqs=*/{}, steps,
                    learning_rate, options.beta1, options.beta2, options.weight_decay,
                    options.epsilon, /*amsgrad=*/false, /*maximize=*/false);
}

void ClipGradients(double norm, double clip_norm, torch::Tensor* gradients) {
  if (clip_norm > 0 && norm > clip_norm) gradients->mul_(clip_norm / norm);
}

double EmaDecay(double decay, int64_t update) {
  const double count = static_cast<double>(update);
  return std::min(decay, (1 + count) / (10 + count));
}

void UpdateEma(double decay, int64_t update, const torch::Tensor& weights, torch::Tensor* average) {
  const torch::NoGradGuard no_grad;
  average->lerp_(weights, 1 - EmaDecay(decay, update));
}

}  // namespace attend
