// The decoder, section 3.1: over live hypotheses only, with keys and values of the past in a cache.
#ifndef ATTEND_ENGINE_STACKS_DECODER_H_
#define ATTEND_ENGINE_STACKS_DECODER_H_

#include <span>
#include <vector>

#include "engine/stacks/encoder.h"

namespace attend {

// One new token of the hypothesis in `slot`; tokens of one slot follow each other.
struct DecoderRow {
  int32_t slot = 0;
  int32_t token = 0;
};

// What the decoder remembers of every hypothesis slot. Cached rows never move: each slot lists the
// rows of its past, and reordering copies the lists alone. A row's number is position * slots +
// slot, so that slots at the same position never share one. One owner.
struct DecoderState {
  struct Past {
    std::vector<float> keys, values;  // [position * slots + slot, H * K]
  };
  struct Source {
    int64_t first = 0, count = 0;  // rows of the encoder's output
  };
  int64_t slots = 0;
  std::vector<Past> layers;
  std::vector<std::vector<int32_t>> rows;  // by slot: the cached row of each position
  std::vector<std::vector<int32_t>> spare_rows;
  std::vector<Source> sources;     // by slot; shared by a sentence's beams
  std::vector<Buffer> cross;       // by layer: [encoder rows, H * K + H * Kv]
  std::vector<int64_t> positions;  // of the rows now running

  // Slot first + i goes on as what slot first + parents[i] was.
  void Reorder(int64_t first, std::span<const int32_t> parents);
};

// Immutable; shared between threads, each with a state and scratch of its own.
class Decoder {
 public:
  // Reads an encoder where the model has one.
  Decoder(const KernelTable& kernels, const TensorTable& tensors, const ModelConfig& config);

  // Forgets everything and takes `slots` empty hypotheses; the keys and values of cross-attention
  // are computed here, once. `sources` has an entry for each slot.
  void Start(std::vector<DecoderState::Source> sources, const float* memory_SD, int64_t memory_rows,
             DecoderState* state) const;
  // Writes [rows, D], what stands before the output projection.
  void Run(std::span<const DecoderRow> rows, DecoderState* state, PositionTable* positions,
           Scratch* scratch, const Sinks& sinks, Buffer* output_RD) const;

 private:
  struct Layer {
    Linear query_key_value, output;
    Linear cross_query, cross_key_value, cross_output;
    LayerNorm self_norm, cross_norm, feed_forward_norm;
    FeedForward feed_forward;
  };
  void Grow(std::span<const DecoderRow> rows, DecoderState* state) const;
  void SelfAttend(int64_t layer, std::span<const DecoderRow> rows, const float* x_RD,
                  DecoderState* state, Scratch* scratch, const Sinks& sinks) const;
  void CrossAttend(int64_t layer, std::span<const DecoderRow> rows, const float* x_RD,
                   DecoderState* state, Scratch* scratch, const Sinks& sinks) const;

  const KernelTable* kernels_;
  StackConfig config_;
  AttentionSizes sizes_;
  bool cross_attention_;
  Embedding embedding_;
  std::vector<Layer> layers_;
  LayerNorm norm_;  // pre-norm only
};

}  // namespace attend

#endif  // ATTEND_ENGINE_STACKS_DECODER_H_
