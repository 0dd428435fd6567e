#include "attend/nn/attention.h"

#include <algorithm>
#include <cmath>

#include "attend/error.h"
#include "attend/nn/decoder_state.h"
#include "nn/fused/packed_attention.h"
#include "nn/linear.h"

namespace attend::nn {
namespace {

// [B, T, H * width] to [B, H, T, width], without a copy.
torch::Tensor SplitHeads(const torch::Tensor& x, int64_t heads) {
  return x.unflatten(-1, {heads, -1}).transpose(1, 2);
}

// What is added to the scores of `length` keys; undefined: nothing.
torch::Tensor AdditiveMask(const AttentionMask& mask, int64_t length,
                           const torch::TensorOptions& options) {
  const torch::Tensor additive = mask.causal ? CausalMask(length, options) : mask.additive;
  if (mask.window == 0) return additive;
  const torch::Tensor near = WindowMask(length, mask.window, options);
  return additive.defined() ? additive + near : near;
}

// Self-attention within a window, over padded tensors: each block of queries sees the keys of its
// own block and of those beside it, so that time and memory grow with the length alone.
class WindowBlocks {
 public:
  WindowBlocks(const AttentionMask& mask, int64_t length)
      : mask_(mask), length_(length), block_(std::max<int64_t>(32, mask.window)) {
    blocks_ = (length + block_ - 1) / block_;
    seen_ = mask.causal ? 2 * block_ : 3 * block_;
  }
  // Else a mask over all keys costs as little. An additive mask must be the same for all queries.
  bool Pay() const {
    return mask_.window > 0 && blocks_ > 2 &&
           (!mask_.additive.defined() || mask_.additive.size(-2) == 1);
  }
  torch::Tensor Output(const torch::Tensor& query_BHTK, const torch::Tensor& key_BHTK,
                       const torch::Tensor& value_BHTV, double dropout) const {
    const int64_t sentences = query_BHTK.size(0);
    const torch::Tensor output = at::scaled_dot_product_attention(
        Unfold(query_BHTK, 0, block_), Unfold(key_BHTK, block_, seen_),
        Unfold(value_BHTV, block_, seen_), Hidden(sentences, query_BHTK.options()), dropout);
    return output.unflatten(0, {sentences, blocks_})
        .transpose(1, 2)
        .flatten(2, 3)
        .narrow(2, 0, length_);
  }

 private:
  // Rows from `before` each block's first one on, [B * blocks, H, count, X]; zeros outside.
  torch::Tensor Unfold(const torch::Tensor& x_BHTX, int64_t before, int64_t count) const {
    const int64_t after = (blocks_ - 1) * block_ + count - before - length_;
    return torch::constant_pad_nd(x_BHTX, {0, 0, before, after})
        .unfold(2, count, block_)
        .permute({0, 2, 1, 4, 3})
        .flatten(0, 1);
  }
  // What is added to scores, [B * blocks, 1, block, count].
  torch::Tensor Hidden(int64_t sentences, const torch::TensorOptions& options) const {
    const auto places = [&](int64_t count) {
      return torch::arange(count, options.dtype(torch::kInt64));
    };
    const torch::Tensor first_N11 = (places(blocks_) * block_).view({-1, 1, 1}),
                        query_NQ1 = first_N11 + places(block_).view({1, -1, 1}),
                        key_N1K = first_N11 + places(seen_).view({1, 1, -1}) - block_;
    torch::Tensor seen_NQK =
        (key_N1K - query_NQ1).abs().le(mask_.window) & key_N1K.ge(0) & key_N1K.lt(length_);
    if (mask_.causal) seen_NQK = seen_NQK & key_N1K.le(query_NQ1);
    const torch::Tensor hidden_NQK = MaskFromAllowed(seen_NQK, options.dtype().toScalarType());
    const torch::Tensor hidden = hidden_NQK.unsqueeze(1).repeat({sentences, 1, 1, 1});
    if (!mask_.additive.defined()) return hidden;
    const torch::Tensor given_B1S1 =
        mask_.additive.expand({sentences, 1, 1, length_}).transpose(2, 3);
    return hidden + Unfold(given_B1S1, block_, seen_).transpose(2, 3);
  }

  const AttentionMask& mask_;
  int64_t length_, block_, blocks_, seen_;
};

}  // namespace

ScaledDotProductAttentionImpl::ScaledDotProductAttentionImpl(double dropout) : dropout_(dropout) {}

AttentionOutput ScaledDotProductAttentionImpl::forward(const torch::Tensor& query_BHTK,
                                                       const torch::Tensor& key_BHSK,
                                                       const torch::Tensor& value_BHSV,
                                                       const AttentionMask& mask) {
  const torch::Tensor weights_BHTS = Weights(query_BHTK, key_BHSK, mask);
  const torch::Tensor kept_BHTS = torch::dropout(weights_BHTS, dropout_, is_training());
  return {torch::matmul(kept_BHTS, value_BHSV), weights_BHTS};
}

torch::Tensor ScaledDotProductAttentionImpl::Weights(const torch::Tensor& query_BHTK,
                                                     const torch::Tensor& key_BHSK,
                                                     const AttentionMask& mask) {
  const double scale = 1 / std::sqrt(static_cast<double>(query_BHTK.size(-1)));
  torch::Tensor scores_BHTS = torch::matmul(query_BHTK * scale, key_BHSK.transpose(-2, -1));
  const torch::Tensor additive = AdditiveMask(mask, scores_BHTS.size(-1), scores_BHTS.options());
  if (additive.defined()) scores_BHTS = scores_BHTS + additive;
  if (mask.biased()) scores_BHTS = scores_BHTS + BiasOfPairs(mask.bias_HN, scores_BHTS.size(-1));
  return at::_safe_softmax(scores_BHTS, -1);  // zeros for a row of minus infinities
}

torch::Tensor ScaledDotProductAttentionImpl::Output(const torch::Tensor& query_BHTK,
                                                    const torch::Tensor& key_BHSK,
                                                    const torch::Tensor& value_BHSV,
                                                    const AttentionMask& mask) {
  const double dropout = is_training() ? dropout_ : 0.0;
  const WindowBlocks blocks(mask, key_BHSK.size(2));
  if (blocks.Pay()) return blocks.Output(query_BHTK, key_BHSK, value_BHSV, dropout);
  const bool by_flag = mask.causal && mask.window == 0;  // which leaves the choice of a kernel
  std::optional<torch::Tensor> additive;
  if (!by_flag) {
    const torch::Tensor hidden = AdditiveMask(mask, key_BHSK.size(2), query_BHTK.options());
    if (hidden.defined()) additive = hidden;
  }
  return at::scaled_dot_product_attention(query_BHTK, key_BHSK, value_BHSV, additive, dropout,
                                          by_flag);
}

MultiHeadAttentionImpl::MultiHeadAttentionImpl(const StackConfig& config, double weights_dropout)
    : heads_(config.heads), weights_dropout_(weights_dropout) {
  const int64_t keys = config.heads * config.key_width(),
                values = config.heads * config.value_width();
  const bool bias = config.attention_bias;
  query = register_module("query", LinearLayer(config.d_model, keys, bias));
  key = register_module("key", LinearLayer(config.d_model, keys, bias));
  value = register_module("value", LinearLayer(config.d_model, values, bias));
  output = register_module("output", LinearLayer(values, config.d_model, bias));
  attention_ = register_module("attention", ScaledDotProductAttention(weights_dropout));
}

std::vector<torch::Tensor> MultiHeadAttentionImpl::Project(const torch::Tensor& query_BTD,
                                                           const torch::Tensor& memory_BSD) {
  const int64_t keys = key->weight.size(0), values = value->weight.size(0);
  if (query_BTD.is_same(memory_BSD)) {
    return Linear(query_BTD, std::vector{query, key, value})
        .split_with_sizes({keys, keys, values}, -1);
  }
  std::vector<torch::Tensor> parts = KeysAndValues(memory_BSD);
  parts.insert(parts.begin(), Linear(query_BTD, query));
  return parts;
}

std::vector<torch::Tensor> MultiHeadAttentionImpl::KeysAndValues(const torch::Tensor& memory_SD) {
  return Linear(memory_SD, std::vector{key, value})
      .split_with_sizes({key->weight.size(0), value->weight.size(0)}, -1);
}

torch::Tensor MultiHeadAttentionImpl::OverOwn(const torch::Tensor& query_RD,
                                              const torch::Tensor& keys_RTE,
                                              const torch::Tensor& values_RTE,
                                              const AttentionMask& mask) {
  const torch::Tensor query_RHTK = SplitHeads(Linear(query_RD, query).unsqueeze(1), heads_);
  const torch::Tensor heads_RHTV = attention_->Output(query_RHTK, SplitHeads(keys_RTE, heads_),
                                                      SplitHeads(values_RTE, heads_), mask);
  return Linear(heads_RHTV.flatten(1), output);
}

torch::Tensor MultiHeadAttentionImpl::OverPackedRows(const torch::Tensor& query_RD,
                                                     const torch::Tensor& memory_SD,
                                                     const AttentionMask& mask,
                                                     const DropoutSite& site,
                                                     torch::Tensor* weights) {
  const HeadShape shape{heads_, key->weight.size(0) / heads_, value->weight.size(0) / heads_};
  if (query_RD.is_same(memory_SD)) {
    return PackedAttention(Linear(query_RD, std::vector{query, key, value}), {}, shape, mask, site);
  }
  const torch::Tensor query_RE = Linear(query_RD, query);
  const torch::Tensor memory_SE = Linear(memory_SD, std::vector{key, value});
  if (weights != nullptr)
    *weights = PaddedWeights(query_RE, memory_SE.narrow(1, 0, key->weight.size(0)), mask);
  return PackedAttention(query_RE, memory_SE, shape, mask, site);
}

torch::Tensor MultiHeadAttentionImpl::PaddedWeights(const torch::Tensor& query_RE,
                                                    const torch::Tensor& key_SE,
                                                    const AttentionMask& mask) {
  const torch::Tensor query_BTE = PadSentences(query_RE, mask.query_offsets_B1),
                      key_BSE = PadSentences(key_SE, mask.key_offsets_B1);
  const std::vector<int64_t> lengths = StateOfSources(mask.key_offsets_B1).source_lengths;
  return attention_->Weights(SplitHeads(query_BTE, heads_), SplitHeads(key_BSE, heads_),
                             LengthMask(lengths, key_BSE.size(1), key_SE.options()));
}

torch::Tensor MultiHeadAttentionImpl::forward(const torch::Tensor& query_BTD,
                                              const torch::Tensor& memory_BSD,
                                              const AttentionMask& mask, torch::Tensor* weights,
                                              DropoutStream* dropout) {
  if (mask.packed()) {
    const DropoutSite site = NextSite(dropout, weights_dropout_, is_training());
    return Linear(OverPackedRows(query_BTD, memory_BSD, mask, site, weights), output);
  }
  if (dropout != nullptr && weights_dropout_ > 0 && is_training()) {
    throw Error(ErrorKind::kUsage,
                "attention weights of padded rows take their dropout from LibTorch, not from a "
                "stream; pack the rows");
  }
  std::vector<torch::Tensor> parts = Project(query_BTD, memory_BSD);
  for (torch::Tensor& part : parts) part = SplitHeads(part, heads_);
  torch::Tensor heads_BHTV;
  if (weights != nullptr || mask.biased()) {  // the fused kernel takes no gradient of a bias
    AttentionOutput result = attention_(parts[0], parts[1], parts[2], mask);
    heads_BHTV = result.output_BHTV;
    if (weights != nullptr) *weights = result.weights_BHTS;
  } else {
    heads_BHTV = attention_->Output(parts[0], parts[1], parts[2], mask);
  }
  return Linear(heads_BHTV.transpose(1, 2).flatten(2), output);
}

}  // namespace attend::nn
