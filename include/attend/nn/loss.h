// Label-smoothed cross-entropy, section 5.4.
#ifndef ATTEND_NN_LOSS_H_
#define ATTEND_NN_LOSS_H_

#include <utility>

#include "attend/nn/smoothing_mass.h"
#include "attend/nn/torch.h"

namespace attend::nn {

struct LossSums {
  torch::Tensor loss;  // a scalar that backward() can start from
  int64_t tokens = 0;  // targets that are not padding; divide by it for a mean
  torch::Tensor nll;   // without smoothing, a scalar; exp(nll / tokens) is the perplexity
};

// Which keys of a batch's queries are right: places in padded weights [B, T, S], and how much each
// counts. A query's together count 1.
struct LinkedKeys {
  torch::Tensor places_L;   // int64
  torch::Tensor weights_L;  // f32
};

// Guided alignment (Garg et al. 2019, section 4): the cross-entropy between the links and the mean
// of the heads, summed over queries.
torch::Tensor AlignmentLoss(const torch::Tensor& weights_BHTS, const LinkedKeys& links);

// CLIP's loss (Radford et al. 2021, figure 3): text p is of picture p and of no other, and the
// reverse. The cross-entropy of the texts among the pictures, and of the pictures among the texts,
// half of both, summed over the pairs. Vectors of length 1 [P, W]; their products count
// exp(log_scale) times, but at most 100 times.
torch::Tensor ContrastiveLoss(const torch::Tensor& texts_PW, const torch::Tensor& pictures_PW,
                              const torch::Tensor& log_scale);

// Connectionist temporal classification (Graves et al. 2006, section 3): -log of the probability
// that the rows of a sequence, each of which writes a class or `blank`, write its labels in order,
// summed over sequences; a class in neighbouring rows is written once. Logits [R, V] of sequences
// whose rows begin at offsets_B1 and whose labels, none of them `blank`, at label_offsets_B1, both
// as PackedIds has them. A sequence with too few rows for its labels counts 0. Differentiable once.
torch::Tensor CtcLoss(const torch::Tensor& logits_RV, const torch::Tensor& offsets_B1,
                      const torch::Tensor& labels_L, const torch::Tensor& label_offsets_B1,
                      int64_t blank);

// A model that a student learns from: its hidden states of the student's targets [..., D'], the
// weight [V, D'] of its output projection and its bias (may be undefined). Nothing of it has
// gradients.
struct Teacher {
  torch::Tensor hidden_RD, weight_VD, bias_V;
  double share = 0.5;  // of the loss
  double temperature = 1;
};

// -sum_v q_v log p_v, summed over all targets that are not padding; natural logarithms. With a
// negative `pad_id` nothing is padding, and nobody waits for a device to tell what is.
class LabelSmoothingLossImpl : public torch::nn::Module {
 public:
  explicit LabelSmoothingLossImpl(double smoothing = 0.1, int64_t pad_id = 0,
                                  SmoothingMass mass = SmoothingMass::kAllClasses);
  // Logits [..., V] for targets [...].
  LossSums forward(const torch::Tensor& logits_RV, const torch::Tensor& targets_R);
  // The same of targets that are mixtures of classes: rows of shares [R, V] that add up to 1.
  LossSums FromMixtures(const torch::Tensor& logits_RV, const torch::Tensor& shares_RV);
  // The same from what the output projection takes: hidden states [..., D], its weight [V, D] and
  // its bias (may be undefined). Logits are made only for targets that are not padding, and only
  // some rows at a time, with their gradients: memory stays far below [R, V]. Differentiable once.
  LossSums FromHidden(const torch::Tensor& hidden_RD, const torch::Tensor& weight_VD,
                      const torch::Tensor& bias_V, const torch::Tensor& targets_R);
  // The same of two passes over these rows with other dropout, plus `divergence` / 4 times the
  // Kullback-Leibler divergence of their predictions, both ways (R-Drop; Liang et al., 2021, whose
  // alpha is `divergence`; this is half of their loss). Hidden states of both passes.
  LossSums FromTwoPasses(const std::pair<torch::Tensor, torch::Tensor>& hidden_RD,
                         const torch::Tensor& weight_VD, const torch::Tensor& bias_V,
                         const torch::Tensor& targets_R, double divergence);
  // Of a student: 1 - teacher.share times FromHidden's loss, plus teacher.share * temperature^2
  // times the Kullback-Leibler divergence from the teacher's predictions to the student's, both
  // softened by the temperature (Kim and Rush 2016, section 3.1; Hinton et al. 2015).
  LossSums FromTeacher(const torch::Tensor& hidden_RD, const torch::Tensor& weight_VD,
                       const torch::Tensor& bias_V, const torch::Tensor& targets_R,
                       const Teacher& teacher);

 private:
  double smoothing_;
  int64_t pad_id_;
  SmoothingMass mass_;
};
TORCH_MODULE(LabelSmoothingLoss);

}  // namespace attend::nn

#endif  // ATTEND_NN_LOSS_H_
