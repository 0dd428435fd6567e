// The encoder and the decoder, each usable alone: on vectors of any origin, or on ids where it has
// an embedding.
#ifndef ATTEND_NN_STACKS_H_
#define ATTEND_NN_STACKS_H_

#include <optional>
#include <vector>

#include "attend/nn/decoder_state.h"
#include "attend/nn/frame_convolutions.h"
#include "attend/nn/layers.h"
#include "attend/nn/patch_embedding.h"
#include "attend/nn/positions.h"
#include "attend/nn/torch.h"

namespace attend::nn {

// What a stack computed: its input, each layer, its output (after the last norm, where the stack
// has one).
struct StackTrace {
  torch::Tensor embedded_BTD;
  std::vector<LayerTrace> layers;
  torch::Tensor output_BTD;
};

// Ids of a batch's sentences one after the other, without padding; or patches of its pictures, or
// frames of its recordings.
struct PackedIds {
  torch::Tensor ids_R;        // int64; undefined for pictures and recordings
  torch::Tensor positions_R;  // int64, each token's place in its sentence
  torch::Tensor offsets_B1;   // int64, on the CPU: sentence b has rows offsets[b] to offsets[b + 1]
  int64_t longest = 0;        // tokens of the longest sentence
  // Of targets, with ModelConfig::next_word_input: for each token the row of the packed sources,
  // int64, whose encoding is added to it.
  torch::Tensor next_words_R = {};
  // Of pictures, E numbers a patch. The rows that are counted above are those of the stack, class
  // tokens among them.
  torch::Tensor patches_PE = {};
  // Of recordings, one after the other, and where they begin (int64, on the CPU). The rows that are
  // counted above are those of the stack.
  torch::Tensor frames_FM = {};
  torch::Tensor frame_offsets_B1 = {};
};

// What a stack makes its first rows of: rows of an embedding, patches of pictures or frames.
struct StackInput {
  int64_t vocab_size = 0;  // 0: no embedding
  std::optional<PatchInput> patches = {};
  std::optional<FrameInput> frames = {};
};

// What both stacks have: an optional embedding, positions, layers, and a norm at the end of a
// pre-norm stack.
class StackImpl : public torch::nn::Module {
 public:
  // Embedding times sqrt(d_model) plus positions, section 3.4 and 3.5, with dropout. `weight_VD`
  // stands in for an embedding that another module owns. Throws Error(kInput) for an id without a
  // row.
  torch::Tensor Embed(const torch::Tensor& ids_BT, const torch::Tensor& weight_VD = {},
                      DropoutStream* dropout = nullptr);
  torch::Tensor Embed(const PackedIds& ids, const torch::Tensor& weight_VD = {},
                      DropoutStream* dropout = nullptr);  // [R, D]

  torch::nn::Embedding embedding{nullptr};  // empty without vocabulary
  PatchEmbedding patches{nullptr};          // of pictures
  FrameConvolutions convolutions{nullptr};  // of recordings
  Norm embedding_norm{nullptr};             // of the sum of embedding and position
  SinusoidalPositionalEncoding sinusoidal_positions{nullptr};
  LearnedPositionalEncoding learned_positions{nullptr};
  RelativePositionBias relative_bias{nullptr};
  torch::nn::ModuleList layers{nullptr};
  Norm norm{nullptr};  // pre-norm only

 protected:
  // Registers the parts before the layers. An encoder looks both ways.
  StackImpl(const StackConfig& config, const Dropout& dropout, const StackInput& input,
            bool both_ways);
  // Registers `layers`, filled by the caller, and what comes after them.
  void RegisterLayers(const StackConfig& config);
  // The mask of self-attention over these rows, with the stack's window and what relative positions
  // add to scores.
  AttentionMask OfSelfAttention(const AttentionMask& given, const torch::Tensor& x_BTD);
  int64_t attention_window() const { return attention_window_; }
  torch::Tensor Finish(const torch::Tensor& x_BTD, StackTrace* trace);

 private:
  // Of the first `length` positions [T, D]; undefined where nothing is added to embeddings.
  torch::Tensor Positions(int64_t length, const torch::TensorOptions& options);
  // [R, D]
  torch::Tensor EmbedPatches(const torch::Tensor& patches_PE, DropoutStream* dropout);
  torch::Tensor EmbedFrames(const PackedIds& read, DropoutStream* dropout);
  // Norm and dropout of what patches or frames became.
  torch::Tensor NormAndDrop(const torch::Tensor& x_RD, DropoutStream* dropout);

  double embedding_scale_;
  double embedding_dropout_;
  int64_t attention_window_;
};

// A stack of EncoderLayer.
class TransformerEncoderImpl : public StackImpl {
 public:
  explicit TransformerEncoderImpl(const StackConfig& config, const Dropout& dropout = {},
                                  const StackInput& input = {});
  torch::Tensor forward(torch::Tensor x_BSD, const AttentionMask& mask = {},
                        StackTrace* trace = nullptr, DropoutStream* dropout = nullptr);
};
TORCH_MODULE(TransformerEncoder);

// A stack of DecoderLayer; without cross-attention it is a language model's.
class TransformerDecoderImpl : public StackImpl {
 public:
  explicit TransformerDecoderImpl(const StackConfig& config, const Dropout& dropout = {},
                                  int64_t vocab_size = 0, bool with_cross_attention = true);
  torch::Tensor forward(torch::Tensor x_BTD, const AttentionMask& self_mask,
                        const Memory& memory = {}, StackTrace* trace = nullptr,
                        DropoutStream* dropout = nullptr);
  // As SequenceModel has them, of the encoder's rows (undefined: there is no encoder) and of
  // embedded tokens.
  DecoderState Start(const torch::Tensor& memory_RD, const torch::Tensor& offsets_B1,
                     const torch::TensorOptions& options);
  torch::Tensor Step(torch::Tensor x_RD, DecoderState* state);

 private:
  NextPlaces PlacesOf(const DecoderState& state, const torch::TensorOptions& options);
};
TORCH_MODULE(TransformerDecoder);

}  // namespace attend::nn

#endif  // ATTEND_NN_STACKS_H_
