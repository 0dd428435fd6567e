#include "train/nn/fused/label_smoothed_cross_entropy.h"

#include <algorithm>

#include "train/nn/bf16_products.h"
#include "train/nn/fused/select_kernels.h"

namespace attend::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

// Rows whose logits are made at a time: enough for the matrix products to run at full speed, few
// enough for logits and their gradients to stay in a CPU's cache. In bf16 the weight's gradient of
// each chunk is added in a pass of its own, which fewer chunks pay for.
constexpr int64_t kChunkRows = 64, kBf16ChunkRows = 256, kGpuChunkRows = 4096;
// On CPUs a bf16 product is compiled for its shape: the last chunk's rows are a multiple of this.
constexpr int64_t kBf16RowStep = 64;

void AddLossByKernels(const LossRows& rows, const LossOptions& options) {
  const torch::Tensor& logits_RV = rows.logits_RV;
  CheckIds(rows.targets_R, logits_RV.size(1));
  WithReal(logits_RV, [&](auto real) {
    using Real = decltype(real);
    CrossEntropyArguments<Real> a{};
    a.rows = rows.targets_R.size(0);
    a.classes = logits_RV.size(1);
    a.logits = logits_RV.mutable_data_ptr<Real>();
    if (rows.bias_V.defined()) a.bias = rows.bias_V.const_data_ptr<Real>();
    a.targets = rows.targets_R.const_data_ptr<int64_t>();
    a.target_weight = options.weights.target;
    a.class_weight = options.weights.each_class;
    a.with_gradient = options.with_gradient;
    if (rows.bias_gradient_V.defined())
      a.bias_gradient = rows.bias_gradient_V.mutable_data_ptr<Real>();
    if (options.divergence_weight) {
      std::vector<Real> scratch(a.classes);
      TwoPassArguments<Real> both{a, *options.divergence_weight, scratch.data()};
      SelectTrainKernels<Real>().two_pass_cross_entropy(&both);
      a = both.loss;
    } else {
      SelectTrainKernels<Real>().cross_entropy(&a);
    }
    auto* sums = rows.sums_2.mutable_data_ptr<double>();
    sums[0] += a.loss;
    sums[1] += a.nll;
  });
}

void AddLoss(const LossRows& rows, const LossOptions& options) {
  if (HasKernels(rows.logits_RV)) {
    AddLossByKernels(rows, options);
  } else {
    AddLossByTorch(rows, options);
  }
}

torch::Tensor ZeroSums(const torch::Tensor& like) {
  return torch::zeros({2}, like.options().dtype(torch::kFloat64).requires_grad(false));
}

tensor_list Scalars(const torch::Tensor& sums_2, torch::ScalarType type) {
  return {sums_2[0].to(type, /*non_blocking=*/false, /*copy=*/true), sums_2[1].clone()};
}

struct LogitsFunction : torch::autograd::Function<LogitsFunction> {
  static tensor_list forward(AutogradContext* context, const torch::Tensor& logits_RV,
                             const torch::Tensor& targets_R, const LossOptions& options) {
    const torch::Tensor work_RV = logits_RV.clone(torch::MemoryFormat::Contiguous),
                        sums_2 = ZeroSums(logits_RV);
    AddLoss({work_RV, {}, targets_R.contiguous(), {}, sums_2}, options);
    if (options.with_gradient) context->save_for_backward({work_RV});
    tensor_list outputs = Scalars(sums_2, logits_RV.scalar_type());
    context->mark_non_differentiable({outputs[1]});
    return outputs;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    CheckNoGraphWanted();
    return {context->get_saved_variables()[0] * gradients[0], {}, {}};
  }
};

struct Projection {
  torch::Tensor hidden_RD, weight_VD, bias_V;  // or the gradients by them
};

// What the chunks of rows add to.
struct Totals {
  torch::Tensor sums_2;
  Projection gradients;  // undefined ones are not wanted
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

// Adds what the rows from `first` on, whose logits go to `logits_CV`, give. Products take the type
// of the inputs' hidden states and weight, the loss that of the logits. Rows without a target,
// which make products larger, add nothing.
void AddLossOfRows(const Projection& inputs, const torch::Tensor& targets_R, int64_t first,
                   const torch::Tensor& logits_CV, const LossOptions& options,
                   const Totals& totals) {
  const int64_t passes = options.passes(), count = logits_CV.size(0),
                real = std::min(count, passes * targets_R.size(0) - first);
  const torch::Tensor hidden_CD = inputs.hidden_RD.narrow(0, first, count);
  Multiply(hidden_CD, inputs.weight_VD.t(), logits_CV);
  AddLoss(
      {logits_CV.narrow(0, 0, real), inputs.bias_V,
       targets_R.narrow(0, first / passes, real / passes), totals.gradients.bias_V, totals.sums_2},
      options);
  if (!options.with_gradient) return;
  logits_CV.narrow(0, real, count - real).zero_();
  const torch::Tensor logits_gradient_CV = logits_CV.to(hidden_CD.scalar_type());
  Multiply(logits_gradient_CV, inputs.weight_VD,
           totals.gradients.hidden_RD.narrow(0, first, count));
  MultiplyAdd(logits_gradient_CV.t(), hidden_CD, totals.gradients.weight_VD);
}

// How rows are cut into chunks.
struct Chunks {
  int64_t length, rows;  // of a chunk, of all together

  Chunks(const torch::Tensor& hidden_RD, torch::ScalarType product_type) {
    const bool bf16 = product_type == torch::kBFloat16, cpu = hidden_RD.is_cpu();
    length = !cpu ? kGpuChunkRows : bf16 ? kBf16ChunkRows : kChunkRows;
    const int64_t step = cpu && bf16 ? kBf16RowStep : 1;
    rows = (hidden_RD.size(0) + step - 1) / step * step;
  }
};

struct ProjectedFunction : torch::autograd::Function<ProjectedFunction> {
  static tensor_list forward(AutogradContext* context, const torch::Tensor& hidden_RD,
                             const torch::Tensor& weight_VD,
                             const std::optional<torch::Tensor>& bias_V,
                             const torch::Tensor& targets_R, const LossOptions& options) {
    const torch::ScalarType type = hidden_RD.scalar_type(), product_type = ProductType(hidden_RD);
    const Chunks chunks(hidden_RD, product_type);
    const Projection inputs{FilledRows(hidden_RD, chunks.rows, product_type),
                            weight_VD.to(product_type).contiguous(),
                            bias_V.value_or(torch::Tensor())};
    const torch::Tensor targets = targets_R.contiguous();
    Totals totals{ZeroSums(hidden_RD), {}};
    Projection& gradients = totals.gradients;
    if (options.with_gradient) {
      const auto contiguous = torch::MemoryFormat::Contiguous;
      gradients = {torch::empty({chunks.rows, hidden_RD.size(1)}, hidden_RD.options()),
                   torch::zeros_like(weight_VD, {}, contiguous),
                   {}};
      if (bias_V) gradients.bias_V = torch::zeros_like(*bias_V);
    }
    const torch::Tensor logits_CV =
        torch::empty({std::min(chunks.length, chunks.rows), weight_VD.size(0)},
                     hidden_RD.options().dtype(type == torch::kFloat64 ? type : torch::kFloat32));
    for (int64_t first = 0; first < chunks.rows; first += chunks.length) {
      const int64_t count = std::min(chunks.length, chunks.rows - first);
      AddLossOfRows(inputs, targets, first, logits_CV.narrow(0, 0, count), options, totals);
    }
    if (options.with_gradient) {
      gradients.hidden_RD = gradients.hidden_RD.narrow(0, 0, hidden_RD.size(0));
    }
    context->save_for_backward({gradients.hidden_RD, gradients.weight_VD, gradients.bias_V});
    tensor_list outputs = Scalars(totals.sums_2, logits_CV.scalar_type());
    context->mark_non_differentiable({outputs[1]});
    return outputs;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    CheckNoGraphWanted();
    tensor_list saved = context->get_saved_variables();
    for (torch::Tensor& gradient : saved) {
      if (gradient.defined()) gradient = gradient * gradients[0];
    }
    return {saved[0], saved[1], saved[2], {}, {}};
  }
};

// Of rows [R, D], or of two passes [2 R, D].
LossAndNll Projected(const Projection& inputs, const torch::Tensor& targets_R,
                     LossOptions options) {
  const auto& [hidden_RD, weight_VD, bias_V] = inputs;
  CheckCount(targets_R, hidden_RD.size(0) / options.passes(), "targets");
  options.with_gradient =
      torch::GradMode::is_enabled() && (hidden_RD.requires_grad() || weight_VD.requires_grad() ||
                                        (bias_V.defined() && bias_V.requires_grad()));
  // An autograd function takes no undefined tensor.
  const std::optional<torch::Tensor> bias = bias_V.defined() ? std::optional(bias_V) : std::nullopt;
  const tensor_list outputs =
      ProjectedFunction::apply(hidden_RD, weight_VD, bias, targets_R, options);
  return {outputs[0], outputs[1]};
}

}  // namespace

LossAndNll PlainLabelSmoothedCrossEntropy(const torch::Tensor& logits_RV,
                                          const torch::Tensor& targets_R,
                                          const SmoothingWeights& weights) {
  CheckCount(targets_R, logits_RV.size(0), "targets");
  const torch::ScalarType type = logits_RV.scalar_type();
  const torch::Tensor log_probs_RV = torch::log_softmax(
      logits_RV, 1, type == torch::kFloat64 ? type : torch::kFloat32);  // of bf16 too
  const torch::Tensor nll = -log_probs_RV.gather(1, targets_R.unsqueeze(1)).sum();
  const torch::Tensor loss = weights.target * nll - weights.each_class * log_probs_RV.sum();
  return {loss, nll.detach().to(torch::kFloat64)};
}

LossAndNll PlainTwoPassCrossEntropy(const torch::Tensor& logits_R2V, const torch::Tensor& targets_R,
                                    const SmoothingWeights& weights, double divergence_weight) {
  const torch::Tensor first_RV = logits_R2V.select(1, 0), second_RV = logits_R2V.select(1, 1);
  const LossAndNll first = PlainLabelSmoothedCrossEntropy(first_RV, targets_R, weights),
                   second = PlainLabelSmoothedCrossEntropy(second_RV, targets_R, weights);
  const torch::Tensor log_p = torch::log_softmax(first_RV, 1),
                      log_q = torch::log_softmax(second_RV, 1);
  const torch::Tensor divergence = ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum();
  return {(first.loss + second.loss) / 2 + divergence_weight * divergence,
          (first.nll + second.nll) / 2};
}

void AddLossByTorch(const LossRows& rows, const LossOptions& options) {
  const torch::AutoGradMode with_gradient(options.with_gradient);
  const torch::Tensor& logits_RV = rows.logits_RV;
  const torch::Tensor sums_RV = (rows.bias_V.defined() ? logits_RV + rows.bias_V : logits_RV)
                                    .detach()
                                    .requires_grad_(options.with_gradient);
  const LossAndNll found =
      options.divergence_weight
          ? PlainTwoPassCrossEntropy(sums_RV.view({-1, 2, logits_RV.size(1)}), rows.targets_R,
                                     options.weights, *options.divergence_weight)
          : PlainLabelSmoothedCrossEntropy(sums_RV, rows.targets_R, options.weights);
  rows.sums_2.add_(torch::stack({found.loss.detach().to(torch::kFloat64), found.nll}));
  if (!options.with_gradient) return;
  const torch::Tensor gradient_RV = torch::autograd::grad({found.loss}, {sums_RV})[0];
  logits_RV.copy_(gradient_RV);
  if (rows.bias_gradient_V.defined()) rows.bias_gradient_V.add_(gradient_RV.sum(0));
}

LossAndNll FusedLabelSmoothedCrossEntropy(const torch::Tensor& logits_RV,
                                          const torch::Tensor& targets_R,
                                          const SmoothingWeights& weights) {
  if (!HasKernels(logits_RV)) return PlainLabelSmoothedCrossEntropy(logits_RV, targets_R, weights);
  CheckCount(targets_R, logits_RV.size(0), "targets");
  const bool with_gradient = torch::GradMode::is_enabled() && logits_RV.requires_grad();
  const tensor_list outputs =
      LogitsFunction::apply(logits_RV, targets_R, LossOptions{weights, {}, with_gradient});
  return {outputs[0], outputs[1]};
}

LossAndNll ProjectedLabelSmoothedCrossEntropy(const torch::Tensor& hidden_RD,
                                              const torch::Tensor& weight_VD,
                                              const torch::Tensor& bias_V,
                                              const torch::Tensor& targets_R,
                                              const SmoothingWeights& weights) {
  return Projected({hidden_RD, weight_VD, bias_V}, targets_R, {weights, {}});
}

LossAndNll ProjectedTwoPassCrossEntropy(const torch::Tensor& hidden_R2D,
                                        const torch::Tensor& weight_VD, const torch::Tensor& bias_V,
                                        const torch::Tensor& targets_R,
                                        const SmoothingWeights& weights, double divergence_weight) {
  return Projected({hidden_R2D.flatten(0, 1), weight_VD, bias_V}, targets_R,
                   {weights, divergence_weight});
}

}  // namespace attend::nn
