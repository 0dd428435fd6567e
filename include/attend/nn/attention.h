// Attention, section 3.2: scaled dot products, and several heads of them.
//
// Shapes: B sentences, T queries, S keys, D d_model, H heads, K and V the width of a head's keys
// and values. Modules are as thread-safe as Torch's: one forward at a time where weights change.
#ifndef ATTEND_NN_ATTENTION_H_
#define ATTEND_NN_ATTENTION_H_

#include "attend/model_config.h"
#include "attend/nn/dropout.h"
#include "attend/nn/linear_layer.h"
#include "attend/nn/masks.h"
#include "attend/nn/torch.h"

namespace attend::nn {

struct AttentionOutput {
  torch::Tensor output_BHTV;
  torch::Tensor weights_BHTS;  // after the softmax, before dropout; each row sums to 1, or to 0
                               // where it is fully masked
};

// softmax(Q K^T / sqrt(d_k) + mask) V, section 3.2.1, over padded tensors. A query whose keys are
// all masked gives zeros, and zero gradients.
class ScaledDotProductAttentionImpl : public torch::nn::Module {
 public:
  // `dropout` acts on the weights; the paper has none there.
  explicit ScaledDotProductAttentionImpl(double dropout = 0);
  AttentionOutput forward(const torch::Tensor& query_BHTK, const torch::Tensor& key_BHSK,
                          const torch::Tensor& value_BHSV, const AttentionMask& mask = {});
  // The weights alone.
  torch::Tensor Weights(const torch::Tensor& query_BHTK, const torch::Tensor& key_BHSK,
                        const AttentionMask& mask = {});
  // The output alone, by LibTorch's fused kernel: same values up to rounding, no [T, S] tensor in
  // memory.
  torch::Tensor Output(const torch::Tensor& query_BHTK, const torch::Tensor& key_BHSK,
                       const torch::Tensor& value_BHSV, const AttentionMask& mask = {});

 private:
  double dropout_;
};
TORCH_MODULE(ScaledDotProductAttention);

// Concat(head_1 .. head_h) W^O, section 3.2.2; d_k and d_v need not be d_model / h.
class MultiHeadAttentionImpl : public torch::nn::Module {
 public:
  explicit MultiHeadAttentionImpl(const StackConfig& config, double weights_dropout = 0);
  // Queries from `query_BTD`, keys and values from `memory_BSD`; self-attention where both are the
  // same tensor. The weights [B, H, T, S] are stored where `weights` is given. With a packed mask
  // both are rows, [R, D] and [S, D], and `weights` is for cross-attention.
  torch::Tensor forward(const torch::Tensor& query_BTD, const torch::Tensor& memory_BSD,
                        const AttentionMask& mask = {}, torch::Tensor* weights = nullptr,
                        DropoutStream* dropout = nullptr);

  // Keys [.., H * K] and values [.., H * V] of rows.
  std::vector<torch::Tensor> KeysAndValues(const torch::Tensor& memory_SD);
  // One query a row, over keys and values of its own that are projected already.
  torch::Tensor OverOwn(const torch::Tensor& query_RD, const torch::Tensor& keys_RTE,
                        const torch::Tensor& values_RTE, const AttentionMask& mask);

  LinearLayer query{nullptr}, key{nullptr}, value{nullptr}, output{nullptr};  // W^Q, W^K, W^V, W^O

 private:
  std::vector<torch::Tensor> Project(const torch::Tensor& query_BTD,
                                     const torch::Tensor& memory_BSD);
  torch::Tensor OverPackedRows(const torch::Tensor& query_RD, const torch::Tensor& memory_SD,
                               const AttentionMask& mask, const DropoutSite& site,
                               torch::Tensor* weights);
  // Of packed rows of queries and keys, before dropout: [B, H, T, S], where what is past a
  // sentence's keys is zero, and what is past its queries of no use.
  torch::Tensor PaddedWeights(const torch::Tensor& query_RE, const torch::Tensor& key_SE,
                              const AttentionMask& mask);

  int64_t heads_;
  double weights_dropout_;
  ScaledDotProductAttention attention_{nullptr};
};
TORCH_MODULE(MultiHeadAttention);

}  // namespace attend::nn

#endif  // ATTEND_NN_ATTENTION_H_
