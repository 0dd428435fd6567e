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

}  // namespace attend::nn

#endif  // ATTEND_NN_POSITIONS_H_
