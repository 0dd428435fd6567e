#include "train/nn/fused/label_smoothed_cross_entropy.h"

#include <algorithm>

#include "train/nn/bf16_products.h"
#include "train/nn/fused/select_kernels.h"

namespace attend::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

// Rows whose logits are made at a time: enough for the matrix products to run at full speed, few
// enough for logits and their gradients to stay in the cache. In bf16 the weight's gradient of each
// chunk is added in a pass of its own, which fewer chunks pay for.
constexpr int64_t kChunkRows = 64, kBf16ChunkRows = 256;
// A bf16 product is compiled for its shape: the last chunk's rows are a multiple of this.
constexpr int64_t kBf16RowStep = 64;

struct LossOptions {
  SmoothingWeights weights;
  bool with_gradient;
};

struct Sums {
  double loss = 0;
  double nll = 0;
};

// Loss of logits [R, V]; with a gradient they become it, in place: p - q. `bias_V` may be
// undefined, `bias_gradient_V` is added to where it is not.
Sums LossOf(const torch::Tensor& logits_RV, const torch::Tensor& bias_V,
            const torch::Tensor& targets_R, const LossOptions& options,
            const torch::Tensor& bias_gradient_V) {
  CheckIds(targets_R, logits_RV.size(1));
  Sums sums;
  WithReal(logits_RV, [&](auto real) {
    using Real = decltype(real);
    CrossEntropyArguments<Real> a{};
    a.rows = logits_RV.size(0);
    a.classes = logits_RV.size(1);
    a.logits = logits_RV.mutable_data_ptr<Real>();
    if (bias_V.defined()) a.bias = bias_V.const_data_ptr<Real>();
    a.targets = targets_R.const_data_ptr<int64_t>();
    a.target_weight = options.weights.target;
    a.class_weight = options.weights.each_class;
    a.with_gradient = options.with_gradient;
    if (bias_gradient_V.defined()) a.bias_gradient = bias_gradient_V.mutable_data_ptr<Real>();
    SelectTrainKernels<Real>().cross_entropy(&a);
    sums = {a.loss, a.nll};
  });
  return sums;
}

tensor_list Scalars(const Sums& sums, const torch::TensorOptions& options) {
  return {torch::full({}, sums.loss, options),
          torch::full({}, sums.nll, options.dtype(torch::kFloat64))};
}

struct LogitsFunction : torch::autograd::Function<LogitsFunction> {
  static tensor_list forward(AutogradContext* context, const torch::Tensor& logits_RV,
                             const torch::Tensor& targets_R, const LossOptions& options) {
    const torch::Tensor work_RV = logits_RV.clone(torch::MemoryFormat::Contiguous);
    const Sums sums = LossOf(work_RV, {}, targets_R.contiguous(), options, {});
    if (options.with_gradient) context->save_for_backward({work_RV});
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

// result = a b; inputs of another type than the result's are multiplied in theirs.
void Multiply(const torch::Tensor& a, const torch::Tensor& b, torch::Tensor result) {
  if (a.scalar_type() == result.scalar_type()) {
    torch::mm_out(result, a, b);
  } else {
    result.copy_(torch::mm(a, b));
  }
}

// result += a b
void MultiplyAdd(const torch::Tensor& a, const torch::Tensor& b, torch::Tensor result) {
  if (a.scalar_type() == result.scalar_type()) {
    result.addmm_(a, b);
  } else {
    result.add_(torch::mm(a, b));
  }
}

// Loss of the rows from `first` on, whose logits go to `logits_CV`; adds to `gradients` where the
// options ask for them. Products take the type of the inputs' hidden states and weight, the loss
// that of the logits. Rows without a target, which make products larger, add nothing.
Sums LossOfRows(const Projection& inputs, const torch::Tensor& targets_R, int64_t first,
                const torch::Tensor& logits_CV, const LossOptions& options,
                const Projection& gradients) {
  const int64_t count = logits_CV.size(0), real = std::min(count, targets_R.size(0) - first);
  const torch::Tensor hidden_CD = inputs.hidden_RD.narrow(0, first, count);
  Multiply(hidden_CD, inputs.weight_VD.t(), logits_CV);
  const Sums sums = LossOf(logits_CV.narrow(0, 0, real), inputs.bias_V,
                           targets_R.narrow(0, first, real), options, gradients.bias_V);
  if (!options.with_gradient) return sums;
  logits_CV.narrow(0, real, count - real).zero_();
  const torch::Tensor logits_gradient_CV = logits_CV.to(hidden_CD.scalar_type());
  Multiply(logits_gradient_CV, inputs.weight_VD, gradients.hidden_RD.narrow(0, first, count));
  MultiplyAdd(logits_gradient_CV.t(), hidden_CD, gradients.weight_VD);
  return sums;
}

struct ProjectedFunction : torch::autograd::Function<ProjectedFunction> {
  static tensor_list forward(AutogradContext* context, const torch::Tensor& hidden_RD,
                             const torch::Tensor& weight_VD,
                             const std::optional<torch::Tensor>& bias_V,
                             const torch::Tensor& targets_R, const LossOptions& options) {
    const torch::ScalarType product_type = ProductType(hidden_RD);
    const bool bf16 = product_type == torch::kBFloat16;
    const int64_t step = bf16 ? kBf16RowStep : 1, chunk = bf16 ? kBf16ChunkRows : kChunkRows;
    const int64_t rows = (hidden_RD.size(0) + step - 1) / step * step;
    const Projection inputs{FilledRows(hidden_RD, rows, product_type),
                            weight_VD.to(product_type).contiguous(),
                            bias_V.value_or(torch::Tensor())};
    const torch::Tensor targets = targets_R.contiguous();
    Projection gradients;
    if (options.with_gradient) {
      const auto contiguous = torch::MemoryFormat::Contiguous;
      gradients = {torch::empty({rows, hidden_RD.size(1)}, hidden_RD.options()),
                   torch::zeros_like(weight_VD, {}, contiguous),
                   {}};
      if (bias_V) gradients.bias_V = torch::zeros_like(*bias_V);
    }
    const torch::Tensor logits_CV =
        torch::empty({std::min(chunk, rows), weight_VD.size(0)}, hidden_RD.options());
    Sums sums;
    for (int64_t first = 0; first < rows; first += chunk) {
      const int64_t count = std::min(chunk, rows - first);
      const Sums part =
          LossOfRows(inputs, targets, first, logits_CV.narrow(0, 0, count), options, gradients);
      sums.loss += part.loss;
      sums.nll += part.nll;
    }
    if (options.with_gradient) {
      gradients.hidden_RD = gradients.hidden_RD.narrow(0, 0, hidden_RD.size(0));
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
  const torch::ScalarType type = logits_RV.scalar_type();
  const torch::Tensor log_probs_RV = torch::log_softmax(
      logits_RV, 1, type == torch::kFloat64 ? type : torch::kFloat32);  // of bf16 too
  const torch::Tensor nll = -log_probs_RV.gather(1, targets_R.unsqueeze(1)).sum();
  const torch::Tensor loss = weights.target * nll - weights.each_class * log_probs_RV.sum();
  return {loss, nll.detach().to(torch::kFloat64)};
}

LossAndNll FusedLabelSmoothedCrossEntropy(const torch::Tensor& logits_RV,
                                          const torch::Tensor& targets_R,
                                          const SmoothingWeights& weights) {
  if (!HasKernels(logits_RV)) return PlainLabelSmoothedCrossEntropy(logits_RV, targets_R, weights);
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
  if (!HasKernels(hidden_RD)) {
    return PlainLabelSmoothedCrossEntropy(torch::linear(hidden_RD, weight_VD, bias_V), targets_R,
                                          weights);
  }
  const bool with_gradient =
      torch::GradMode::is_enabled() && (hidden_RD.requires_grad() || weight_VD.requires_grad() ||
                                        (bias_V.defined() && bias_V.requires_grad()));
  // An autograd function takes no undefined tensor.
  const std::optional<torch::Tensor> bias = bias_V.defined() ? std::optional(bias_V) : std::nullopt;
  const tensor_list outputs = ProjectedFunction::apply(hidden_RD, weight_VD, bias, targets_R,
                                                       LossOptions{weights, with_gradient});
  return {outputs[0], outputs[1]};
}

}  // namespace attend::nn
