#include "train/nn/fused/label_smoothed_cross_entropy.h"

#include <algorithm>

namespace attend::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

// Logits made at a time: enough rows for the matrix products, few enough to stay in the cache.
constexpr int64_t kChunkElements = int64_t{1} << 21;
constexpr int64_t kFewestRows = 64;

struct LossOptions {
  SmoothingWeights weights;
  bool with_gradient;
};

struct Sums {
  double loss = 0;
  double nll = 0;
};

// Loss of log-probabilities [R, V].
Sums LossOf(const torch::Tensor& log_probs_RV, const torch::Tensor& targets_R1,
            const SmoothingWeights& weights) {
  Sums sums;
  sums.nll = -log_probs_RV.gather(1, targets_R1).sum(torch::kFloat64).item<double>();
  sums.loss = weights.target * sums.nll;
  if (weights.each_class != 0) {
    sums.loss -= weights.each_class * log_probs_RV.sum(1).sum(torch::kFloat64).item<double>();
  }
  return sums;
}

// Turns log-probabilities into the gradient of the loss by the logits, in place: p - q.
void ToGradient(torch::Tensor& log_probs_RV, const torch::Tensor& targets_R1,
                const SmoothingWeights& weights) {
  log_probs_RV.exp_();
  if (weights.each_class != 0) log_probs_RV.sub_(weights.each_class);
  log_probs_RV.scatter_add_(1, targets_R1,
                            torch::full_like(targets_R1, -weights.target, log_probs_RV.options()));
}

tensor_list Scalars(const Sums& sums, const torch::TensorOptions& options) {
  return {torch::full({}, sums.loss, options),
          torch::full({}, sums.nll, options.dtype(torch::kFloat64))};
}

struct LogitsFunction : torch::autograd::Function<LogitsFunction> {
  static tensor_list forward(AutogradContext* context, const torch::Tensor& logits_RV,
                             const torch::Tensor& targets_R, const LossOptions& options) {
    const torch::Tensor targets_R1 = targets_R.unsqueeze(1);
    torch::Tensor work_RV = torch::log_softmax(logits_RV, 1);
    const Sums sums = LossOf(work_RV, targets_R1, options.weights);
    if (options.with_gradient) {
      ToGradient(work_RV, targets_R1, options.weights);
      context->save_for_backward({work_RV});
    }
    tensor_list outputs = Scalars(sums, logits_RV.options());
    context->mark_non_differentiable({outputs[1]});
    return outputs;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    return {context->get_saved_variables()[0] * gradients[0], {}, {}};
  }
};

struct Projection {
  torch::Tensor hidden_RD, weight_VD, bias_V;  // or the gradients by them
};

// Loss of the rows from `first` on; adds to `gradients` where there are any.
Sums LossOfRows(const Projection& inputs, const torch::Tensor& targets_R, int64_t first,
                int64_t count, const SmoothingWeights& weights, Projection* gradients) {
  const torch::Tensor hidden_CD = inputs.hidden_RD.narrow(0, first, count);
  const torch::Tensor targets_C1 = targets_R.narrow(0, first, count).unsqueeze(1);
  torch::Tensor work_CV =
      torch::log_softmax(torch::linear(hidden_CD, inputs.weight_VD, inputs.bias_V), 1);
  const Sums sums = LossOf(work_CV, targets_C1, weights);
  if (gradients == nullptr) return sums;
  ToGradient(work_CV, targets_C1, weights);
  torch::Tensor hidden_gradient_CD = gradients->hidden_RD.narrow(0, first, count);
  torch::mm_out(hidden_gradient_CD, work_CV, inputs.weight_VD);
  gradients->weight_VD.addmm_(work_CV.t(), hidden_CD);
  if (gradients->bias_V.defined()) gradients->bias_V.add_(work_CV.sum(0));
  return sums;
}

struct ProjectedFunction : torch::autograd::Function<ProjectedFunction> {
  static tensor_list forward(AutogradContext* context, const torch::Tensor& hidden_RD,
                             const torch::Tensor& weight_VD,
                             const std::optional<torch::Tensor>& bias_V,
                             const torch::Tensor& targets_R, const LossOptions& options) {
    const Projection inputs{hidden_RD, weight_VD, bias_V.value_or(torch::Tensor())};
    Projection gradients;
    if (options.with_gradient) {
      gradients = {torch::empty_like(hidden_RD), torch::zeros_like(weight_VD), {}};
      if (bias_V) gradients.bias_V = torch::zeros_like(*bias_V);
    }
    const int64_t rows = hidden_RD.size(0);
    const int64_t chunk = std::max(kFewestRows, kChunkElements / weight_VD.size(0));
    Sums sums;
    for (int64_t first = 0; first < rows; first += chunk) {
      const Sums part = LossOfRows(inputs, targets_R, first, std::min(chunk, rows - first),
                                   options.weights, options.with_gradient ? &gradients : nullptr);
      sums.loss += part.loss;
      sums.nll += part.nll;
    }
    context->save_for_backward({gradients.hidden_RD, gradients.weight_VD, gradients.bias_V});
    tensor_list outputs = Scalars(sums, hidden_RD.options());
    context->mark_non_differentiable({outputs[1]});
    return outputs;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    tensor_list saved = context->get_saved_variables();
    for (torch::Tensor& gradient : saved) {
      if (gradient.defined()) gradient = gradient * gradients[0];
    }
    return {saved[0], saved[1], saved[2], {}, {}};
  }
};

}  // namespace

LossAndNll PlainLabelSmoothedCrossEntropy(const torch::Tensor& logits_RV,
                                          const torch::Tensor& targets_R,
                                          const SmoothingWeights& weights) {
  const torch::Tensor log_probs_RV = torch::log_softmax(logits_RV, 1);
  const torch::Tensor nll = -log_probs_RV.gather(1, targets_R.unsqueeze(1)).sum();
  const torch::Tensor loss = weights.target * nll - weights.each_class * log_probs_RV.sum();
  return {loss, nll.detach().to(torch::kFloat64)};
}

LossAndNll FusedLabelSmoothedCrossEntropy(const torch::Tensor& logits_RV,
                                          const torch::Tensor& targets_R,
                                          const SmoothingWeights& weights) {
  const bool with_gradient = torch::GradMode::is_enabled() && logits_RV.requires_grad();
  const tensor_list outputs =
      LogitsFunction::apply(logits_RV, targets_R, LossOptions{weights, with_gradient});
  return {outputs[0], outputs[1]};
}

LossAndNll ProjectedLabelSmoothedCrossEntropy(const torch::Tensor& hidden_RD,
                                              const torch::Tensor& weight_VD,
                                              const torch::Tensor& bias_V,
                                              const torch::Tensor& targets_R,
                                              const SmoothingWeights& weights) {
  const bool with_gradient =
      torch::GradMode::is_enabled() && (hidden_RD.requires_grad() || weight_VD.requires_grad());
  // An autograd function takes no undefined tensor.
  const std::optional<torch::Tensor> bias = bias_V.defined() ? std::optional(bias_V) : std::nullopt;
  const tensor_list outputs = ProjectedFunction::apply(hidden_RD, weight_VD, bias, targets_R,
                                                       LossOptions{weights, with_gradient});
  return {outputs[0], outputs[1]};
}

}  // namespace attend::nn
