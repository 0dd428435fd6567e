#include "attend/nn/crf.h"

namespace attend::nn {
namespace {

torch::Tensor ScoreOf(const torch::Tensor& scores_RL, const torch::Tensor& labels_R,
                      const torch::Tensor& offsets_B1, const CrfScores& transitions) {
  const torch::Tensor first_B = offsets_B1.slice(0, 0, -1).to(labels_R.device());
  const torch::Tensor last_B = offsets_B1.slice(0, 1).to(labels_R.device()) - 1;
  torch::Tensor inside_R = torch::ones_like(labels_R, torch::kBool);
  inside_R.index_fill_(0, first_B, 0);
  const torch::Tensor word_R = inside_R.nonzero().squeeze(1);  // those after another word
  const torch::Tensor now_R = labels_R.index_select(0, word_R);
  const torch::Tensor before_R = labels_R.index_select(0, word_R - 1);
  return scores_RL.gather(1, labels_R.unsqueeze(1)).sum() +
         transitions.begin_L.index_select(0, labels_R.index_select(0, first_B)).sum() +
         transitions.next_LL.index({before_R, now_R}).sum() +
         transitions.end_L.index_select(0, labels_R.index_select(0, last_B)).sum();
}

// By the forward algorithm, all sentences together, word by word.
torch::Tensor LogSumOfAll(const torch::Tensor& scores_RL, const torch::Tensor& offsets_B1,
                          const CrfScores& transitions) {
  const torch::Tensor lengths_B = offsets_B1.diff();
  const int64_t longest = lengths_B.max().item<int64_t>();
  const torch::Tensor first_B = offsets_B1.slice(0, 0, -1).to(scores_RL.device());
  const torch::Tensor count_B = lengths_B.to(scores_RL.device());
  torch::Tensor paths_BL = scores_RL.index_select(0, first_B) + transitions.begin_L;
  for (int64_t word = 1; word < longest; ++word) {
    const torch::Tensor goes_on_B = count_B.gt(word);
    const torch::Tensor row_B = first_B + (count_B - 1).clamp_max(word);
    const torch::Tensor next_BL = (paths_BL.unsqueeze(2) + transitions.next_LL).logsumexp(1) +
                                  scores_RL.index_select(0, row_B);
    paths_BL = torch::where(goes_on_B.unsqueeze(1), next_BL, paths_BL);
  }
  return (paths_BL + transitions.end_L).logsumexp(1).sum();
}

}  // namespace

torch::Tensor CrfLoss(const torch::Tensor& scores_RL, const torch::Tensor& labels_R,
                      const torch::Tensor& offsets_B1, const CrfScores& transitions) {
  return LogSumOfAll(scores_RL, offsets_B1, transitions) -
         ScoreOf(scores_RL, labels_R, offsets_B1, transitions);
}

}  // namespace attend::nn
