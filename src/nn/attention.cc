#include "attend/nn/attention.h"

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
  if (mask.biased()) scores_BHTS = scores_BHTS + mask.bias_HTT;
  return at::_safe_softmax(scores_BHTS, -1);  // zeros for a row of minus infinities
}

torch::Tensor ScaledDotProductAttentionImpl::Output(const torch::Tensor& query_BHTK,
                                                    const torch::Tensor& key_BHSK,
                                                    const torch::Tensor& value_BHSV,
                                                    const AttentionMask& mask) {
  const bool by_flag = mask.causal && mask.window == 0;  // which leaves the choice of a kernel
  std::optional<torch::Tensor> additive;
  if (!by_flag) {
    const torch::Tensor hidden = AdditiveMask(mask, key_BHSK.size(2), query_BHTK.options());
    if (hidden.defined()) additive = hidden;
  }
  return at::scaled_dot_product_attention(query_BHTK, key_BHSK, value_BHSV, additive,
                                          is_training() ? dropout_ : 0.0, by_flag);
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
