// A linear-chain conditional random field over labels (Lafferty, McCallum and Pereira 2001).
#ifndef ATTEND_NN_CRF_H_
#define ATTEND_NN_CRF_H_

#include "attend/nn/torch.h"

namespace attend::nn {

// Scores of labels that follow each other, L of them.
struct CrfScores {
  torch::Tensor begin_L;  // of a sentence's first label
  torch::Tensor end_L;    // of its last one
  torch::Tensor next_LL;  // [label][label of the next word]
};

// -log p(labels | scores), summed over all sentences: the log-sum of the scores of all sequences,
// less the score of this one. A sequence's score is the sum of its labels' scores, [R, L], and its
// transitions'. `labels_R` (int64) are of the words of all sentences, one after the other;
// `offsets_B1` (int64, on the CPU): sentence b has words offsets[b] to offsets[b + 1], at least
// one.
torch::Tensor CrfLoss(const torch::Tensor& scores_RL, const torch::Tensor& labels_R,
                      const torch::Tensor& offsets_B1, const CrfScores& transitions);

}  // namespace attend::nn

#endif  // ATTEND_NN_CRF_H_
