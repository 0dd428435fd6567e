// The encoder, section 3.1: over the packed rows of all sentences of a batch, without padding.
#ifndef ATTEND_ENGINE_STACKS_ENCODER_H_
#define ATTEND_ENGINE_STACKS_ENCODER_H_

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/blocks/input.h"
#include "engine/blocks/layer.h"

namespace attend {

enum class AttentionPlace { kEncoderSelf, kDecoderSelf, kCross };

// Sees the attention weights of one packed row in one layer: [heads, keys].
using AttentionSink = std::function<void(AttentionPlace place, int64_t layer, int64_t row,
                                         const float* weights_HS, int64_t keys)>;

// Sees what leaves a layer: [rows, D]; layer -1 is the embedding, `layers` the end of the stack.
using ActivationSink =
    std::function<void(bool encoder, int64_t layer, const float* x_RD, int64_t rows)>;

struct Sinks {
  AttentionSink attention;    // may be empty
  ActivationSink activation;  // may be empty
  bool any() const { return attention != nullptr || activation != nullptr; }
};

// The most rows that pass through the layers together, so that what leaves one layer is still in
// the last cache for the next; an encoder takes at least a whole text. With sinks all rows go
// together, for a sink counts them.
constexpr int64_t kRowsTogether = 512;

class FusedInput;

// Immutable; shared between threads, each with a Scratch and PositionTable of its own.
class Encoder {
 public:
  // Precondition: the model has an encoder.
  Encoder(const WeightSource& weights, const ModelConfig& config);
  // One below a joint encoder.
  Encoder(const WeightSource& weights, const EncoderShape& shape);

  // Rows that the encoder makes of an item.
  int64_t RowsOf(const EncoderItem& item) const;
  // Writes [rows, D] into `output`; the items' rows follow each other. Preconditions: ids are in
  // the vocabulary, nodes in the graph.
  void Run(std::span<const EncoderItem> items, PositionTable* positions, Scratch* scratch,
           const Sinks& sinks, Buffer* output_RD) const;

  // What joins the inputs of items; null for an encoder of one input.
  const FusedInput* fused() const { return fused_.get(); }

 private:
  struct Layer {
    Linear query_key_value, output;
    Norm attention_norm, feed_forward_norm;
    FeedForward feed_forward;
  };
  // Items that pass through the layers together.
  struct Batch {
    std::span<const int64_t> lengths;  // rows of each
    int64_t rows = 0;                  // of all of them
    ScoreBias bias;
  };
  // The layers, in place.
  void RunLayers(const Batch& batch, Scratch* scratch, const Sinks& sinks, float* x_RD) const;
  void SelfAttend(int64_t layer, const Batch& batch, const float* x_RD, Scratch* scratch,
                  const Sinks& sinks) const;

  const KernelTable* kernels_;
  StackConfig config_;
  AttentionSizes sizes_;
  std::optional<InputLayer> input_;
  std::shared_ptr<const FusedInput> fused_;  // of a joint encoder, in its place
  RelativeBias relative_bias_;
  std::vector<Layer> layers_;
  Norm norm_;  // pre-norm only
};

}  // namespace attend

#endif  // ATTEND_ENGINE_STACKS_ENCODER_H_
