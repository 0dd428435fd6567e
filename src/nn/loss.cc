#include "attend/nn/loss.h"

#include <fmt/format.h>

#include "attend/error.h"
#include "attend/nn/decoder_state.h"
#include "nn/fused/label_smoothed_cross_entropy.h"

namespace attend::nn {
namespace {

SmoothingWeights WeightsFor(double smoothing, SmoothingMass mass, int64_t classes) {
  if (mass == SmoothingMass::kAllClasses)
    return {1 - smoothing, smoothing / static_cast<double>(classes)};
  const double wrong = classes > 1 ? smoothing / static_cast<double>(classes - 1) : 0;
  return {1 - smoothing - wrong, wrong};
}

LossSums Pack(const LossAndNll& result, int64_t tokens) {
  return {result.loss, tokens, result.nll};
}

// The rows whose target counts, or nothing where all do.
torch::Tensor CountedRows(const torch::Tensor& targets_R, int64_t pad_id) {
  if (pad_id < 0) return {};
  const torch::Tensor rows = targets_R.ne(pad_id).nonzero().squeeze(1);
  return rows.size(0) == targets_R.size(0) ? torch::Tensor() : rows;
}

}  // namespace

torch::Tensor AlignmentLoss(const torch::Tensor& weights_BHTS, const LinkedKeys& links) {
  constexpr double kLeast = 1e-9;  // of a logarithm
  const torch::Tensor right_L = weights_BHTS.mean(1).flatten().index_select(0, links.places_L);
  return -((right_L + kLeast).log() * links.weights_L.to(right_L.scalar_type())).sum();
}

torch::Tensor ContrastiveLoss(const torch::Tensor& texts_PW, const torch::Tensor& pictures_PW,
                              const torch::Tensor& log_scale) {
  constexpr double kMostScale = 100;
  const torch::Tensor scale = log_scale.clamp_max(std::log(kMostScale)).exp();
  const torch::Tensor logits_PP = scale * torch::matmul(texts_PW, pictures_PW.t());
  const torch::Tensor of_pictures_P = logits_PP.log_softmax(1).diagonal(),
                      of_texts_P = logits_PP.log_softmax(0).diagonal();
  return -(of_pictures_P + of_texts_P).sum() / 2;
}

torch::Tensor CtcLoss(const torch::Tensor& logits_RV, const torch::Tensor& offsets_B1,
                      const torch::Tensor& labels_L, const torch::Tensor& label_offsets_B1,
                      int64_t blank) {
  const torch::Tensor log_probabilities_BTV = PadSentences(logits_RV.log_softmax(1), offsets_B1);
  return torch::ctc_loss(log_probabilities_BTV.transpose(0, 1), labels_L, offsets_B1.diff(),
                         label_offsets_B1.diff(), blank, at::Reduction::Sum,
                         /*zero_infinity=*/true);
}

LabelSmoothingLossImpl::LabelSmoothingLossImpl(double smoothing, int64_t pad_id, SmoothingMass mass)
    : smoothing_(smoothing), pad_id_(pad_id), mass_(mass) {
  if (!(smoothing >= 0 && smoothing < 1)) {
    throw Error(ErrorKind::kConfiguration,
                fmt::format("label_smoothing is {}, expected at least 0 and below 1", smoothing));
  }
}

LossSums LabelSmoothingLossImpl::forward(const torch::Tensor& logits_RV,
                                         const torch::Tensor& targets_R) {
  const int64_t classes = logits_RV.size(-1);
  torch::Tensor logits = logits_RV.reshape({-1, classes}), targets = targets_R.reshape({-1});
  if (const torch::Tensor rows = CountedRows(targets, pad_id_); rows.defined()) {
    logits = logits.index_select(0, rows);
    targets = targets.index_select(0, rows);
  }
  return Pack(
      FusedLabelSmoothedCrossEntropy(logits, targets, WeightsFor(smoothing_, mass_, classes)),
      targets.size(0));
}

LossSums LabelSmoothingLossImpl::FromMixtures(const torch::Tensor& logits_RV,
                                              const torch::Tensor& shares_RV) {
  const SmoothingWeights weights = WeightsFor(smoothing_, mass_, logits_RV.size(-1));
  const torch::Tensor log_RV = logits_RV.log_softmax(-1);
  const torch::Tensor nll = -(log_RV * shares_RV).sum();
  return {weights.target * nll - weights.each_class * log_RV.sum(), logits_RV.size(0),
          nll.detach()};
}

LossSums LabelSmoothingLossImpl::FromHidden(const torch::Tensor& hidden_RD,
                                            const torch::Tensor& weight_VD,
                                            const torch::Tensor& bias_V,
                                            const torch::Tensor& targets_R) {
  torch::Tensor hidden = hidden_RD.reshape({-1, hidden_RD.size(-1)}),
                targets = targets_R.reshape({-1});
  if (const torch::Tensor rows = CountedRows(targets, pad_id_); rows.defined()) {
    hidden = hidden.index_select(0, rows);
    targets = targets.index_select(0, rows);
  }
  return Pack(ProjectedLabelSmoothedCrossEntropy(hidden, weight_VD, bias_V, targets,
                                                 WeightsFor(smoothing_, mass_, weight_VD.size(0))),
              targets.size(0));
}

LossSums LabelSmoothingLossImpl::FromTwoPasses(
    const std::pair<torch::Tensor, torch::Tensor>& hidden_RD, const torch::Tensor& weight_VD,
    const torch::Tensor& bias_V, const torch::Tensor& targets_R, double divergence) {
  torch::Tensor hidden_R2D = torch::stack({hidden_RD.first, hidden_RD.second}, -2),
                targets = targets_R.reshape({-1});
  hidden_R2D = hidden_R2D.reshape({-1, 2, hidden_R2D.size(-1)});
  if (const torch::Tensor rows = CountedRows(targets, pad_id_); rows.defined()) {
    hidden_R2D = hidden_R2D.index_select(0, rows);
    targets = targets.index_select(0, rows);
  }
  return Pack(ProjectedTwoPassCrossEntropy(hidden_R2D, weight_VD, bias_V, targets,
                                           WeightsFor(smoothing_, mass_, weight_VD.size(0)),
                                           divergence / 4),
              targets.size(0));
}

LossSums LabelSmoothingLossImpl::FromTeacher(const torch::Tensor& hidden_RD,
                                             const torch::Tensor& weight_VD,
                                             const torch::Tensor& bias_V,
                                             const torch::Tensor& targets_R,
                                             const Teacher& teacher) {
  torch::Tensor hidden = hidden_RD.reshape({-1, hidden_RD.size(-1)}),
                taught = teacher.hidden_RD.reshape({-1, teacher.hidden_RD.size(-1)}),
                targets = targets_R.reshape({-1});
  if (const torch::Tensor rows = CountedRows(targets, pad_id_); rows.defined()) {
    hidden = hidden.index_select(0, rows);
    taught = taught.index_select(0, rows);
    targets = targets.index_select(0, rows);
  }
  return Pack(
      ProjectedDistilledCrossEntropy(
          hidden, weight_VD, bias_V, targets, WeightsFor(smoothing_, mass_, weight_VD.size(0)),
          {taught, teacher.weight_VD, teacher.bias_V, teacher.share, teacher.temperature}),
      targets.size(0));
}

}  // namespace attend::nn
