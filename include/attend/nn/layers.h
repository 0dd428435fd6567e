// One layer of each stack, section 3.1 and figure 1.
#ifndef ATTEND_NN_LAYERS_H_
#define ATTEND_NN_LAYERS_H_

#include "attend/nn/attention.h"
#include "attend/nn/dropout.h"
#include "attend/nn/feed_forward.h"
#include "attend/nn/norm.h"
#include "attend/nn/recurrence.h"
#include "attend/nn/torch.h"

namespace attend::nn {

// What a layer computed, for comparison and pictures: the residual stream after each sub-layer and
// the attention weights.
struct LayerTrace {
  torch::Tensor self_attention_BTD;
  torch::Tensor cross_attention_BTD;
  torch::Tensor feed_forward_BTD;
  torch::Tensor self_weights_BHTT;
  torch::Tensor cross_weights_BHTS;
};

// Self-attention, then feed-forward.
class EncoderLayerImpl : public torch::nn::Module {
 public:
  explicit EncoderLayerImpl(const StackConfig& config, const Dropout& dropout = {});
  // `dropout` gives this pass's sites; see NextSite.
  torch::Tensor forward(torch::Tensor x_BSD, const AttentionMask& mask = {},
                        LayerTrace* trace = nullptr, DropoutStream* dropout = nullptr);

  MultiHeadAttention self_attention{nullptr};
  Norm self_attention_norm{nullptr};
  PositionwiseFeedForward feed_forward{nullptr};
  Norm feed_forward_norm{nullptr};

 private:
  NormPlace norm_place_;
  double residual_dropout_;
};
TORCH_MODULE(EncoderLayer);

// The cross-attention of one decoder layer, from 0, which a pass keeps: what PaddedWeights of
// MultiHeadAttention gives, with its gradients.
struct CrossWeights {
  int64_t layer = 0;
  torch::Tensor weights_BHTS;
};

// What a decoder looks at besides its own past: the encoder's output and the mask of its padding.
// Empty without encoder.
struct Memory {
  torch::Tensor hidden_BSD;
  AttentionMask mask;
  // With ModelConfig::next_word_input: for each target id the place in its source, int64, of what
  // is added to it.
  torch::Tensor next_words_BT = {};
  CrossWeights* kept = nullptr;  // may be null
};

// What one decoder layer keeps of hypotheses: parts of a DecoderState. Null: the layer has none.
struct LayerState {
  const torch::Tensor *source_keys_RSE = nullptr, *source_values_RSE = nullptr;
  torch::Tensor *keys_RTE = nullptr, *values_RTE = nullptr;  // of tokens; the next one's are empty
  torch::Tensor* recurrence_RD = nullptr;
};

// Where the next token of each row stands, and what its queries see.
struct NextPlaces {
  torch::Tensor rows_R, places_R;  // int64: 0, 1, ... and the tokens before it
  AttentionMask self_mask, cross_mask;
};

// Self-attention (or a recurrence in its place), attention to the memory (where the layer has any),
// then feed-forward.
class DecoderLayerImpl : public torch::nn::Module {
 public:
  explicit DecoderLayerImpl(const StackConfig& config, const Dropout& dropout = {},
                            bool with_cross_attention = true);
  // `self_mask` must hide the future, as AttentionMask::Causal does.
  torch::Tensor forward(torch::Tensor x_BTD, const AttentionMask& self_mask,
                        const Memory& memory = {}, LayerTrace* trace = nullptr,
                        DropoutStream* dropout = nullptr);
  // The next token of each row, without dropout; what it adds goes into the state.
  torch::Tensor Step(torch::Tensor x_RD, const NextPlaces& next, const LayerState& state);

  MultiHeadAttention self_attention{nullptr};
  Norm self_attention_norm{nullptr};
  Ssru recurrence{nullptr};
  Norm recurrence_norm{nullptr};
  MultiHeadAttention cross_attention{nullptr};
  Norm cross_attention_norm{nullptr};
  PositionwiseFeedForward feed_forward{nullptr};
  Norm feed_forward_norm{nullptr};

 private:
  NormPlace norm_place_;
  double residual_dropout_;
};
TORCH_MODULE(DecoderLayer);

}  // namespace attend::nn

#endif  // ATTEND_NN_LAYERS_H_
