// Draws the tokens that follow a row, from its logits as they come in blocks.
#ifndef ATTEND_ENGINE_ROW_SAMPLER_H_
#define ATTEND_ENGINE_ROW_SAMPLER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/inference/kernels.h"
#include "search/sampling.h"
#include "search/stepper.h"

namespace attend {

// Keeps no more of a row than the options need: with top_k the k best; with neither top_k, top_p
// nor min_p the token that wins so far; else all logits.
//
// A token wins so far, the Gumbel-max trick: the block with the largest logarithm of its summed
// exponentials plus Gumbel noise has it, and within that block it is drawn by its probability. That
// is a draw from the whole row.
//
// One owner; used for one row after another.
class RowSampler {
 public:
  void Start(const KernelTable& kernels, const Sampling& sampling);
  // The next block, in order; its first logit is `first`'s. `forbidden` tokens are not drawn.
  void Take(std::span<const float> logits, int64_t first, std::span<const int32_t> forbidden);
  // One token for each draw, with its log-probability in the whole row, neither penalised nor
  // narrowed; `log_sum` is the row's. -1 where every token is forbidden.
  void Finish(double log_sum, Candidate* drawn);

 private:
  struct Winner {
    double noisy = 0;  // its block's, with noise
    int32_t id = -1;
    float logit = 0;
  };
  enum class Keeps { kBest, kWinner, kAll };

  void Penalise(std::span<const float> logits, int64_t first);
  void TakeWinner(int64_t block);
  size_t ChooseInBlock(double uniform) const;
  // As the model gave it.
  float LogitOf(int32_t id, float given) const;

  const KernelTable* kernels_ = nullptr;
  Sampling sampling_;
  Keeps keeps_ = Keeps::kBest;
  std::vector<float> block_, shares_;  // the present one: logits over the temperature; soft-max
  std::vector<float> seen_logits_;     // of sampling_.seen, as the model gave them
  std::vector<float> best_values_;
  std::vector<int32_t> best_ids_;
  TopK best_ = {};
  std::vector<Winner> winners_;  // by draw
  std::vector<float> row_V_;
  Likeliest likeliest_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_ROW_SAMPLER_H_
