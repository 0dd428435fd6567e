#include "nn/fused/label_smoothed_cross_entropy.h"

#include <algorithm>

#include "nn/bf16_products.h"
#include "nn/fused/fused_function.h"
#include "nn/fused/packed_factor.h"

namespace attend::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

// Rows whose logits are made at a time: enough for the matrix products to run at full speed, with
// the weight's gradient read and written seldom; few enough for a CPU's cache and little memory.
constexpr int64_t kChunkRows = 128, kGpuChunkRows = 4096;

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

// The gradient by the logits, which may take their memory.
torch::Tensor AddLoss(const LossRows& rows, const LossOptions& options) {
  if (!HasKernels(rows.logits_RV) || rows.teacher_RV.defined())
    return AddLossByTorch(rows, options);
  AddLossByKernels(rows, options);
  return rows.logits_RV;
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
    const torch::Tensor gradient_RV =
        AddLoss({work_RV, {}, targets_R.contiguous(), {}, sums_2}, options);
    if (options.with_gradient) context->save_for_backward({gradient_RV});
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

// What the chunks are made of. The weight is the right factor of what makes logits, and of what
// makes the hidden states' gradient.
struct Inputs {
  torch::Tensor hidden_RD, bias_V, targets_R;
  PackedFactor transposed_DV;
  std::optional<PackedFactor> weight_VD;        // where gradients are wanted
  std::optional<PackedFactor> teacher_DV = {};  // where there is one, and kernels
};

// A teacher's logits of the rows from `first` on; undefined without one. Kernels take f32, which
// torch::linear would round to bf16 under autocast.
torch::Tensor TeacherLogits(const Inputs& inputs, const LossOptions& options, int64_t first,
                            int64_t count) {
  if (!options.teacher) return {};
  const Teacher& teacher = *options.teacher;
  const torch::Tensor hidden_CD = teacher.hidden_RD.narrow(0, first, count);
  if (!inputs.teacher_DV) return torch::linear(hidden_CD, teacher.weight_VD, teacher.bias_V);
  torch::Tensor logits_CV =
      torch::empty({count, teacher.weight_VD.size(0)},
                   hidden_CD.options().dtype(teacher.weight_VD.scalar_type()));
  inputs.teacher_DV->Multiply(hidden_CD, logits_CV, teacher.bias_V);
  return logits_CV;
}

// Adds what the rows from `first` on give, whose logits are made in `logits_CV`.
void AddLossOfRows(const Inputs& inputs, int64_t first, const torch::Tensor& logits_CV,
                   const LossOptions& options, const Totals& totals) {
  const int64_t passes = options.passes(), count = logits_CV.size(0);
  const torch::Tensor hidden_CD = inputs.hidden_RD.narrow(0, first, count),
                      targets_C = inputs.targets_R.narrow(0, first / passes, count / passes);
  inputs.transposed_DV.Multiply(hidden_CD, logits_CV);
  const torch::Tensor gradient_CV =
      AddLoss({logits_CV, inputs.bias_V, targets_C, totals.gradients.bias_V, totals.sums_2,
               TeacherLogits(inputs, options, first, count)},
              options);
  if (!options.with_gradient) return;
  inputs.weight_VD->Multiply(gradient_CV, totals.gradients.hidden_RD.narrow(0, first, count));
  if (!totals.gradients.weight_VD.defined()) return;
  PackedFactor(hidden_CD, ProductType(inputs.hidden_RD))
      .MultiplyAdd(gradient_CV.t(), totals.gradients.weight_VD);
}

// Of logits: f32 for kernels, which read and write each several times; what products have
// elsewhere.
torch::ScalarType LogitsType(const torch::Tensor& hidden_RD) {
  const torch::ScalarType type = ProductType(hidden_RD);
  return type == torch::kBFloat16 && HasKernels(hidden_RD) ? torch::kFloat32 : type;
}

struct ProjectedFunction : torch::autograd::Function<ProjectedFunction> {
  static tensor_list forward(AutogradContext* context, const torch::Tensor& hidden_RD,
                             const torch::Tensor& weight_VD,
                             const std::optional<torch::Tensor>& bias_V,
                             const torch::Tensor& targets_R, const LossOptions& options) {
    const torch::ScalarType type = ProductType(hidden_RD);
    Inputs inputs{hidden_RD.contiguous(),
                  bias_V.value_or(torch::Tensor()),
                  targets_R.contiguous(),
                  {weight_VD.t(), type},
                  {}};
    if (options.with_gradient) inputs.weight_VD.emplace(weight_VD, type);
    if (options.teacher && HasKernels(options.teacher->hidden_RD))
      inputs.teacher_DV.emplace(options.teacher->weight_VD.t(), type);
    Totals totals{ZeroSums(hidden_RD), {}};
    Projection& gradients = totals.gradients;
    if (options.with_gradient) {
      gradients.hidden_RD = torch::empty_like(inputs.hidden_RD);
      if (weight_VD.requires_grad())
        gradients.weight_VD = torch::zeros_like(weight_VD, {}, torch::MemoryFormat::Contiguous);
      if (bias_V && bias_V->requires_grad()) gradients.bias_V = torch::zeros_like(*bias_V);
    }
    const int64_t rows = hidden_RD.size(0),
                  chunk = std::min(rows, hidden_RD.is_cpu() ? kChunkRows : kGpuChunkRows);
    const torch::Tensor logits_CV =
        torch::empty({chunk, weight_VD.size(0)}, hidden_RD.options().dtype(LogitsType(hidden_RD)));
    for (int64_t first = 0; first < rows; first += chunk) {
      const int64_t count = std::min(chunk, rows - first);
      AddLossOfRows(inputs, first, logits_CV.narrow(0, 0, count), options, totals);
    }
    context->save_for_backward({gradients.hidden_RD, gradients.weight_VD, gradients.bias_V});
    tensor_list outputs =
        Scalars(totals.sums_2,
                hidden_RD.scalar_type() == torch::kFloat64 ? torch::kFloat64 : torch::kFloat32);
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
  CheckCount(targets_R, "targets", hidden_RD.size(0) / options.passes(), "rows");
  if (bias_V.defined()) CheckCount(bias_V, "biases", weight_VD.size(0), "classes");
  options.with_gradient =
      torch::GradMode::is_enabled() && (hidden_RD.requires_grad() || weight_VD.requires_grad() ||
                                        (bias_V.defined() && bias_V.requires_grad()));
  const tensor_list outputs =
      ProjectedFunction::apply(hidden_RD, weight_VD, IfDefined(bias_V), targets_R, options);
  return {outputs[0], outputs[1]};
}

struct LogProbs {
  torch::Tensor log_probs_RV, loss, nll;  // f32 or, for such logits, f64
};

LogProbs LogProbsOf(const torch::Tensor& logits_RV, const torch::Tensor& targets_R,
                    const SmoothingWeights& weights) {
  const bool exact = logits_RV.scalar_type() == torch::kFloat64;
  const torch::Tensor log_probs_RV =
      torch::log_softmax(logits_RV, 1, exact ? torch::kFloat64 : torch::kFloat32);  // of bf16 too
  const torch::Tensor nll = -log_probs_RV.gather(1, targets_R.unsqueeze(1)).sum();
  return {log_probs_RV, weights.target * nll - weights.each_class * log_probs_RV.sum(), nll};
}

}  // namespace

LossAndNll PlainLabelSmoothedCrossEntropy(const torch::Tensor& logits_RV,
                                          const torch::Tensor& targets_R,
                                          const SmoothingWeights& weights) {
  CheckCount(targets_R, "targets", logits_RV.size(0), "rows");
  const LogProbs found = LogProbsOf(logits_RV, targets_R, weights);
  return {found.loss, found.nll.detach().to(torch::kFloat64)};
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

namespace {

// The gradient of one pass's loss by the logits, which is p - each_class less `target` at the
// target; `log_probs_RV` becomes it. A GPU would be waited for to see whether ids are in range.
torch::Tensor GradientFromLogProbs(const torch::Tensor& log_probs_RV,
                                   const torch::Tensor& targets_R,
                                   const SmoothingWeights& weights) {
  torch::Tensor gradient_RV = log_probs_RV;
  gradient_RV.exp_().sub_(weights.each_class);
  const int64_t rows = gradient_RV.size(0), classes = gradient_RV.size(1);
  const torch::Tensor places_R = torch::arange(rows, targets_R.options()) * classes + targets_R;
  torch::Tensor flat = gradient_RV.view(-1);
  at::_index_put_impl_(flat, {places_R}, flat.index_select(0, places_R) - weights.target,
                       /*accumulate=*/false, /*unsafe=*/true);
  return gradient_RV;
}

// Of both passes, side by side.
torch::Tensor TwoPassesByTorch(const torch::Tensor& sums_RV, const LossRows& rows,
                               const LossOptions& options) {
  const torch::AutoGradMode with_gradient(options.with_gradient);
  const torch::Tensor inputs_RV = sums_RV.detach().requires_grad_(options.with_gradient);
  const LossAndNll found =
      PlainTwoPassCrossEntropy(inputs_RV.view({-1, 2, inputs_RV.size(1)}), rows.targets_R,
                               options.weights, *options.divergence_weight);
  rows.sums_2.add_(torch::stack({found.loss.detach().to(torch::kFloat64), found.nll}));
  if (!options.with_gradient) return {};
  return torch::autograd::grad({found.loss}, {inputs_RV})[0];
}

torch::Tensor OnePassByTorch(const torch::Tensor& sums_RV, const LossRows& rows,
                             const LossOptions& options) {
  const LogProbs found = LogProbsOf(sums_RV, rows.targets_R, options.weights);
  rows.sums_2.add_(torch::stack({found.loss, found.nll}).to(torch::kFloat64));
  if (!options.with_gradient) return {};
  return GradientFromLogProbs(found.log_probs_RV, rows.targets_R, options.weights);
}

// Of the student.
torch::Tensor DistilledByTorch(const torch::Tensor& sums_RV, const LossRows& rows,
                               const LossOptions& options) {
  const double share = options.teacher->share, temperature = options.teacher->temperature;
  const LogProbs found = LogProbsOf(sums_RV, rows.targets_R, options.weights);
  const torch::ScalarType type = found.log_probs_RV.scalar_type();
  const torch::Tensor taught_RV = torch::log_softmax(rows.teacher_RV / temperature, 1, type);
  torch::Tensor learned_RV = found.log_probs_RV;
  if (temperature != 1) learned_RV = torch::log_softmax(sums_RV / temperature, 1, type);
  const torch::Tensor probabilities_RV = taught_RV.exp(),
                      divergence = (probabilities_RV * (taught_RV - learned_RV)).sum();
  const torch::Tensor loss =
      (1 - share) * found.loss + share * temperature * temperature * divergence;
  rows.sums_2.add_(torch::stack({loss, found.nll}).to(torch::kFloat64));
  if (!options.with_gradient) return {};
  torch::Tensor gradient_RV = learned_RV.exp().sub_(probabilities_RV).mul_(share * temperature);
  // The last, since it takes the memory of what the student has learned.
  return gradient_RV.add_(GradientFromLogProbs(found.log_probs_RV, rows.targets_R, options.weights),
                          1 - share);
}

torch::Tensor GradientByTorch(const torch::Tensor& sums_RV, const LossRows& rows,
                              const LossOptions& options) {
  if (options.teacher) return DistilledByTorch(sums_RV, rows, options);
  if (options.divergence_weight) return TwoPassesByTorch(sums_RV, rows, options);
  return OnePassByTorch(sums_RV, rows, options);
}

}  // namespace

torch::Tensor AddLossByTorch(const LossRows& rows, const LossOptions& options) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor& logits_RV = rows.logits_RV;
  const torch::Tensor sums_RV = rows.bias_V.defined() ? logits_RV + rows.bias_V : logits_RV;
  const torch::Tensor gradient_RV = GradientByTorch(sums_RV, rows, options);
  if (!options.with_gradient) return {};
  if (rows.bias_gradient_V.defined()) rows.bias_gradient_V.add_(gradient_RV.sum(0));
  return gradient_RV.to(logits_RV.scalar_type());
}

LossAndNll FusedLabelSmoothedCrossEntropy(const torch::Tensor& logits_RV,
                                          const torch::Tensor& targets_R,
                                          const SmoothingWeights& weights) {
  if (!HasKernels(logits_RV)) return PlainLabelSmoothedCrossEntropy(logits_RV, targets_R, weights);
  CheckCount(targets_R, "targets", logits_RV.size(0), "rows");
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

LossAndNll ProjectedDistilledCrossEntropy(const torch::Tensor& hidden_RD,
                                          const torch::Tensor& weight_VD,
                                          const torch::Tensor& bias_V,
                                          const torch::Tensor& targets_R,
                                          const SmoothingWeights& weights, const Teacher& teacher) {
  CheckCount(teacher.hidden_RD.select(1, 0), "rows of the teacher", hidden_RD.size(0), "rows");
  CheckCount(teacher.weight_VD.select(1, 0), "classes of the teacher", weight_VD.size(0),
             "classes");
  LossOptions options{weights, {}};
  options.teacher = teacher;
  return Projected({hidden_RD, weight_VD, bias_V}, targets_R, options);
}

}  // namespace attend::nn
