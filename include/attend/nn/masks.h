// Attention masks. Over padded tensors they are tensors that are added to scores before the
// softmax, 0 where a key may be attended and minus infinity where it may not. An undefined tensor
// masks nothing. Masks broadcast over heads and, where the size is 1, over sentences and queries.
// Made once a batch, shared by all layers.
#ifndef ATTEND_NN_MASKS_H_
#define ATTEND_NN_MASKS_H_

#include "attend/nn/torch.h"

namespace attend::nn {

// Which keys a query may attend to: over padded tensors what an additive mask says, or its own
// place and those before; over packed ones those of its own sentence.
struct AttentionMask {
  AttentionMask() = default;  // all keys
  AttentionMask(torch::Tensor mask) : additive(std::move(mask)) {}
  // Query t sees keys 0 to t, of as many as there are queries. Of sentences that are padded on the
  // right it hides the padding too, from all queries that are none. Unlike an additive mask it
  // leaves a GPU the choice of any kernel.
  static AttentionMask Causal() {
    AttentionMask mask;
    mask.causal = true;
    return mask;
  }
  // Sentence b has rows offsets[b] to offsets[b + 1]; int64, on the CPU. With `causal`, its query t
  // sees its keys 0 to t.
  static AttentionMask Packed(torch::Tensor query_offsets_B1, torch::Tensor key_offsets_B1,
                              bool causal) {
    AttentionMask mask;
    mask.query_offsets_B1 = std::move(query_offsets_B1);
    mask.key_offsets_B1 = std::move(key_offsets_B1);
    mask.causal = causal;
    return mask;
  }
  // Sees keys at most `window` positions from the query's, of those that it would; 0: all of them.
  AttentionMask Near(int64_t window_size) const {
    AttentionMask mask = *this;
    mask.window = window_size;
    return mask;
  }
  bool packed() const { return query_offsets_B1.defined(); }
  bool biased() const { return bias_HN.defined(); }

  torch::Tensor additive;  // not with `causal`
  torch::Tensor query_offsets_B1, key_offsets_B1;
  bool causal = false;
  int64_t window = 0;  // of self-attention, whose queries have their keys' positions
  // Added to the scores of self-attention where it is defined: what RelativePositionBias gives for
  // the longest sentence, or a longer one.
  torch::Tensor bias_HN;
};

// [H, T, T], a number for each pair of query and key, from [H, N]: one for each distance from the
// query to the key, of an odd N of them with 0 in the middle. N is at least 2 T - 1.
torch::Tensor BiasOfPairs(const torch::Tensor& bias_HN, int64_t length);

// Where `ids` is not padding, as booleans; all true for a negative `pad_id`.
torch::Tensor ValidTokens(const torch::Tensor& ids_BS, int64_t pad_id);

// From booleans, true where a key may be attended, of any shape that broadcasts to [B, H, T, S].
torch::Tensor MaskFromAllowed(const torch::Tensor& allowed, torch::ScalarType dtype);

// Hides padding keys: [B, 1, 1, S] from booleans [B, S]. On a CPU undefined where all tokens are
// valid; a GPU would have to be waited for to know.
torch::Tensor PaddingMask(const torch::Tensor& valid_BS, torch::ScalarType dtype);

// Hides keys more than `window` positions from the query: [1, 1, T, T].
torch::Tensor WindowMask(int64_t length, int64_t window, const torch::TensorOptions& options);

// Hides keys after the query: [1, 1, T, T].
torch::Tensor CausalMask(int64_t length, const torch::TensorOptions& options);

}  // namespace attend::nn

#endif  // ATTEND_NN_MASKS_H_
