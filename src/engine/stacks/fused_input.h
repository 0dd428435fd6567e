// What enters a joint encoder: rows of a text, of a picture and of linked nodes.
#ifndef ATTEND_ENGINE_STACKS_FUSED_INPUT_H_
#define ATTEND_ENGINE_STACKS_FUSED_INPUT_H_

#include <cstdint>
#include <span>

#include "engine/stacks/encoder.h"

namespace attend {

// Immutable; shared between threads, each with a Scratch and PositionTable of its own.
class FusedInput {
 public:
  // Precondition: the model reads items.
  FusedInput(const WeightSource& weights, const ModelConfig& config);

  // One for the summary, and those of what the item has.
  int64_t RowsOf(const EncoderItem& item) const;
  // Writes [rows, D] of all items, one after another. Preconditions: ids are in the vocabulary,
  // nodes in the graph.
  void Apply(std::span<const EncoderItem> items, PositionTable* positions, Scratch* scratch,
             float* x_RD) const;

 private:
  // An encoder below and what brings its rows to the joint width.
  struct Part {
    Encoder encoder;
    Linear product;
    int64_t width = 0;  // of the encoder's rows
  };
  // The part's rows of all items into their places, from `first_rows` on, which move past them.
  void Write(const Part& part, std::span<const EncoderItem> inputs, std::span<int64_t> first_rows,
             PositionTable* positions, Scratch* scratch, float* x_RD) const;

  int64_t width_;
  Part text_, picture_;
  const float* summary_D_;
  const float* nodes_ND_ = nullptr;  // null: there is no graph
};

}  // namespace attend

#endif  // ATTEND_ENGINE_STACKS_FUSED_INPUT_H_
