// What enters a joint encoder: rows of a text, of a picture and of linked nodes. What texts and
// pictures are by themselves.
#ifndef ATTEND_ENGINE_STACKS_FUSED_INPUT_H_
#define ATTEND_ENGINE_STACKS_FUSED_INPUT_H_

#include <cstdint>
#include <optional>
#include <span>

#include "engine/stacks/encoder.h"

namespace attend {

// Immutable; shared between threads, each with a Scratch and PositionTable of its own.
class FusedInput {
 public:
  enum class Part { kText, kPicture };

  // Precondition: the model reads items.
  FusedInput(const WeightSource& weights, const ModelConfig& config);

  // One for the summary, and those of what the item has.
  int64_t RowsOf(const EncoderItem& item) const;
  // Writes [rows, D] of all items, one after another. Preconditions: ids are in the vocabulary,
  // nodes in the graph.
  void Apply(std::span<const EncoderItem> items, PositionTable* positions, Scratch* scratch,
             float* x_RD) const;
  // Writes the vectors [items, W] that the items' texts, or pictures, have in the space that both
  // share, each of length 1. Preconditions: the model has a shared_width W, and every item has that
  // part.
  void ApplyShared(Part part, std::span<const EncoderItem> items, PositionTable* positions,
                   Scratch* scratch, float* vectors_BW) const;

 private:
  // An encoder below, what brings its rows to the joint width, and what their mean to the shared
  // one.
  struct Below {
    Encoder encoder;
    Linear product;
    int64_t width = 0;  // of the encoder's rows
    std::optional<Linear> projection = {};
  };
  // The part's rows of all items into their places, from `first_rows` on, which move past them.
  void Write(const Below& part, std::span<const EncoderItem> inputs, std::span<int64_t> first_rows,
             PositionTable* positions, Scratch* scratch, float* x_RD) const;

  int64_t width_;
  Below text_, picture_;
  const float* summary_D_;
  const float* nodes_ND_ = nullptr;  // null: there is no graph
};

}  // namespace attend

#endif  // ATTEND_ENGINE_STACKS_FUSED_INPUT_H_
