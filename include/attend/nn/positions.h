// Positions, section 3.5: what is added to embeddings so that order counts.
#ifndef ATTEND_NN_POSITIONS_H_
#define ATTEND_NN_POSITIONS_H_

#include <mutex>

#include "attend/model_config.h"
#include "attend/nn/torch.h"

namespace attend::nn {

// PE(pos, 2i) = sin(pos / 10000^(2i/D)), PE(pos, 2i+1) = cos(...), or all sines before all cosines.
// Has no parameters and no longest length; the table is computed in f64 and grows as needed.
class SinusoidalPositionalEncodingImpl : public torch::nn::Module {
 public:
  // `offset` is the position of the first token.
  explicit SinusoidalPositionalEncodingImpl(
      int64_t d_model, SinusoidConvention convention = SinusoidConvention::kInterleaved,
      int64_t offset = 0);
  torch::Tensor forward(const torch::Tensor& input_BTD);
  // Rows of the first `length` positions.
  torch::Tensor Table(int64_t length, const torch::TensorOptions& options);

 private:
  int64_t d_model_;
  SinusoidConvention convention_;
  int64_t offset_;
  std::mutex table_mutex_;
  torch::Tensor table_TD_;  // as long as the longest input so far, of its type and device
};
TORCH_MODULE(SinusoidalPositionalEncoding);

// A trained row for each position (row E of Table 3).
class LearnedPositionalEncodingImpl : public torch::nn::Module {
 public:
  LearnedPositionalEncodingImpl(int64_t max_positions, int64_t d_model, int64_t offset = 0);
  // Throws Error(kInput) for an input that needs more than max_positions rows.
  torch::Tensor forward(const torch::Tensor& input_BTD);
  // Rows of the first `length` positions. Throws like forward.
  torch::Tensor Table(int64_t length) const;

  torch::Tensor weight;  // [max_positions, D]

 private:
  int64_t offset_;
};
TORCH_MODULE(LearnedPositionalEncoding);

// What distances add to the scores of self-attention, in place of positions that are added to
// embeddings: a trained number for each head and bucket of distances (T5; Raffel et al. 2020).
class RelativePositionBiasImpl : public torch::nn::Module {
 public:
  // An encoder's looks both ways.
  RelativePositionBiasImpl(const StackConfig& config, bool both_ways);
  // [H, 2 T - 1], by the distance from a query to a key in a sentence of T tokens: 1 - T to T - 1.
  torch::Tensor forward(int64_t length);

  torch::Tensor weight;  // [buckets, H]

 private:
  // Of the distances 1 - length to length - 1.
  torch::Tensor Buckets(int64_t length);

  StackConfig config_;
  bool both_ways_;
  std::mutex buckets_mutex_;
  torch::Tensor buckets_;  // for the longest sentence so far, on its device
};
TORCH_MODULE(RelativePositionBias);

}  // namespace attend::nn

#endif  // ATTEND_NN_POSITIONS_H_
