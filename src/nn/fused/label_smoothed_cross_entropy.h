// Label-smoothed cross-entropy as autograd functions that compute the gradient along with the loss.
// The plain version, made of LibTorch's operations, is the oracle of the others' tests.
#ifndef ATTEND_NN_FUSED_LABEL_SMOOTHED_CROSS_ENTROPY_H_
#define ATTEND_NN_FUSED_LABEL_SMOOTHED_CROSS_ENTROPY_H_

#include <optional>

#include "attend/nn/loss.h"
#include "attend/nn/torch.h"

namespace attend::nn {

// The loss of one row is -target_weight * log p_target - class_weight * sum_v log p_v. The weights
// add up so that target_weight + V * class_weight = 1.
struct SmoothingWeights {
  double target = 1;
  double each_class = 0;
};

struct LossAndNll {
  torch::Tensor loss;  // scalar, differentiable once
  torch::Tensor nll;   // scalar f64, no gradient
};

// Both sums over the rows; every target counts. Throws Error(kInput) unless each row has one, here
// and below.
LossAndNll PlainLabelSmoothedCrossEntropy(const torch::Tensor& logits_RV,
                                          const torch::Tensor& targets_R,
                                          const SmoothingWeights& weights);

// The same with one gradient tensor in place of the log-probabilities and their gradient.
LossAndNll FusedLabelSmoothedCrossEntropy(const torch::Tensor& logits_RV,
                                          const torch::Tensor& targets_R,
                                          const SmoothingWeights& weights);

// The same from hidden states and the output projection (`bias_V` may be undefined). Logits exist
// for some rows at a time, on every device.
LossAndNll ProjectedLabelSmoothedCrossEntropy(const torch::Tensor& hidden_RD,
                                              const torch::Tensor& weight_VD,
                                              const torch::Tensor& bias_V,
                                              const torch::Tensor& targets_R,
                                              const SmoothingWeights& weights);

// Of two passes over the same rows with other dropout (R-Drop; Liang et al., "R-Drop: Regularized
// Dropout for Neural Networks", 2021): the mean of both passes' losses plus `divergence_weight` *
// (KL(p1 || p2) + KL(p2 || p1)); nll is the mean of both.
LossAndNll PlainTwoPassCrossEntropy(const torch::Tensor& logits_R2V, const torch::Tensor& targets_R,
                                    const SmoothingWeights& weights, double divergence_weight);
LossAndNll ProjectedTwoPassCrossEntropy(const torch::Tensor& hidden_R2D,
                                        const torch::Tensor& weight_VD, const torch::Tensor& bias_V,
                                        const torch::Tensor& targets_R,
                                        const SmoothingWeights& weights, double divergence_weight);

// Word-level distillation (Kim and Rush, "Sequence-Level Knowledge Distillation", 2016, section
// 3.1), with a temperature as Hinton et al. 2015 have it: 1 - share times the label-smoothed loss,
// plus share * temperature^2 * KL(teacher || student), of the softmax of both logits over the
// temperature. nll is the student's.
LossAndNll ProjectedDistilledCrossEntropy(const torch::Tensor& hidden_RD,
                                          const torch::Tensor& weight_VD,
                                          const torch::Tensor& bias_V,
                                          const torch::Tensor& targets_R,
                                          const SmoothingWeights& weights, const Teacher& teacher);

// What the loss of some rows is made of; with a divergence weight, of two passes.
struct LossOptions {
  SmoothingWeights weights;
  std::optional<double> divergence_weight;
  bool with_gradient = true;
  std::optional<Teacher> teacher = {};  // of all rows; of one pass

  int64_t passes() const { return divergence_weight ? 2 : 1; }
};

struct LossRows {
  torch::Tensor logits_RV;  // both passes of a row side by side; their memory may be used
  torch::Tensor bias_V;     // may be undefined
  torch::Tensor targets_R;
  torch::Tensor bias_gradient_V;  // added to; may be undefined
  torch::Tensor sums_2;           // loss and negative log-likelihood, added to; f64
  torch::Tensor teacher_RV = {};  // logits of a teacher, if there is one
};

// A step of the projected losses where there are no kernels or a teacher; nothing in it waits for a
// GPU. Returns the gradient by the logits, in their type.
torch::Tensor AddLossByTorch(const LossRows& rows, const LossOptions& options);

}  // namespace attend::nn

#endif  // ATTEND_NN_FUSED_LABEL_SMOOTHED_CROSS_ENTROPY_H_
