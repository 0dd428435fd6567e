// Attention over packed rows: forward and backward of all heads of a sentence at once, without
// copies of heads, masks or padding. Within a window, time and memory grow with a sentence's length
// alone: blocks of queries see the keys around them. The plain version, made of LibTorch's
// operations, is the oracle of the fused one's tests and what runs where there are no kernels.
#ifndef ATTEND_NN_FUSED_PACKED_ATTENTION_H_
#define ATTEND_NN_FUSED_PACKED_ATTENTION_H_

#include "attend/nn/dropout.h"
#include "attend/nn/masks.h"
#include "attend/nn/torch.h"

namespace attend::nn {

struct HeadShape {
  int64_t heads, key_width, value_width;
};

// softmax(Q K^T / sqrt(key_width) + bias) V within each sentence of `mask`, which is packed: [R,
// heads * value_width]. Dropout acts on the weights; its row is the query's, its column head * S +
// key, or within a window that hides keys head * (2 window + 1) + key - query + window. `query`
// holds queries, keys and values side by side, [R, heads * (2 key_width + value_width)], where
// `memory` is undefined; else queries alone, and `memory` keys and values, [S, heads * (key_width +
// value_width)].
torch::Tensor PlainPackedAttention(const torch::Tensor& query, const torch::Tensor& memory,
                                   const HeadShape& shape, const AttentionMask& mask,
                                   const DropoutSite& site);
torch::Tensor PackedAttention(const torch::Tensor& query, const torch::Tensor& memory,
                              const HeadShape& shape, const AttentionMask& mask,
                              const DropoutSite& site);

}  // namespace attend::nn

#endif  // ATTEND_NN_FUSED_PACKED_ATTENTION_H_
