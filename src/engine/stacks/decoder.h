// The decoder, section 3.1: over live hypotheses only, with keys and values of the past in a cache.
#ifndef ATTEND_ENGINE_STACKS_DECODER_H_
#define ATTEND_ENGINE_STACKS_DECODER_H_

#include <span>
#include <vector>

#include "engine/stacks/decoder_cache.h"
#include "engine/stacks/encoder.h"

namespace attend {

// One new token of a hypothesis; those of one hypothesis follow each other.
struct DecoderRow {
  int32_t hypothesis = 0;
  int32_t token = 0;
  // Of the encoder's output, which with ModelConfig::next_word_input is added; -1: none.
  int32_t source_row = -1;
};

// A sentence that begins: its rows of the encoder's output follow those of the one before.
struct NewSource {
  int64_t sentence = 0;
  int64_t count = 0;
};

// Immutable; shared between threads, each with a cache and scratch of its own.
class Decoder {
 public:
  // Reads an encoder where the model has one.
  Decoder(const WeightSource& weights, const ModelConfig& config);

  // Forgets everything.
  void Reset(int64_t beam_size, DecoderCache* cache) const;
  // Begins sentences, their hypotheses empty; keys and values of cross-attention are computed here,
  // once.
  void Start(std::span<const NewSource> sources, const float* memory_SD, Scratch* scratch,
             DecoderCache* cache) const;
  // Writes [rows, D], what stands before the output projection.
  void Run(std::span<const DecoderRow> rows, DecoderCache* cache, PositionTable* positions,
           Scratch* scratch, const Sinks& sinks, Buffer* output_RD) const;

 private:
  // Embeds the rows and passes them through the layers: [rows, D].
  void RunLayers(std::span<const DecoderRow> rows, DecoderCache* cache, PositionTable* positions,
                 Scratch* scratch, const Sinks& sinks, float* x_RD) const;

  struct Layer {
    Linear query_key_value, output;
    Linear recurrence_input, recurrence_forget;  // in place of these
    Linear cross_query, cross_key_value, cross_output;
    Norm self_norm, cross_norm, feed_forward_norm;
    FeedForward feed_forward;
  };
  void Grow(std::span<const DecoderRow> rows, DecoderCache* cache) const;
  void SelfAttend(int64_t layer, std::span<const DecoderRow> rows, const float* x_RD,
                  DecoderCache* cache, Scratch* scratch, const Sinks& sinks) const;
  // What a recurrence has in place of self-attention; writes scratch->context.
  void Recur(int64_t layer, std::span<const DecoderRow> rows, const float* x_RD,
             DecoderCache* cache, Scratch* scratch) const;
  void CrossAttend(int64_t layer, std::span<const DecoderRow> rows, const float* x_RD,
                   DecoderCache* cache, Scratch* scratch, const Sinks& sinks) const;

  // Where the encoder's own output stands in what is kept of a source's row.
  int64_t memory_at() const { return config_.layers * sizes_.row_floats(); }
  bool recurs() const { return config_.recurrence != Recurrence::kNone; }
  // What a hypothesis keeps of a position in each layer.
  int64_t own_floats() const { return recurs() ? config_.d_model : sizes_.row_floats(); }

  const KernelTable* kernels_;
  StackConfig config_;
  AttentionSizes sizes_;
  bool cross_attention_, next_word_input_;
  Embedding embedding_;
  RelativeBias relative_bias_;
  std::vector<Layer> layers_;
  Norm norm_;                   // pre-norm only
  std::vector<float> zeros_D_;  // the state that a recurrence begins with
};

}  // namespace attend

#endif  // ATTEND_ENGINE_STACKS_DECODER_H_
