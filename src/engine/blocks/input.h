// What enters an encoder: rows of the residual stream, made of tokens or of numbers such as patches
// of a picture.
#ifndef ATTEND_ENGINE_BLOCKS_INPUT_H_
#define ATTEND_ENGINE_BLOCKS_INPUT_H_

#include <cstdint>
#include <optional>
#include <span>

#include "attend/model_config.h"
#include "engine/blocks/layer.h"

namespace attend {

// What an encoder reads of one item: ids of tokens, or rows of numbers. As cheap to copy as a span.
struct EncoderItem {
  EncoderItem() = default;
  EncoderItem(std::span<const int32_t> of_tokens) : ids(of_tokens) {}  // NOLINT: the common case
  explicit EncoderItem(std::span<const float> of_rows) : numbers(of_rows) {}

  std::span<const int32_t> ids;
  std::span<const float> numbers;  // [patches, patch size]
};

// Immutable; shared between threads, each with a Scratch and PositionTable of its own.
class InputLayer {
 public:
  // Precondition: the model has an encoder.
  InputLayer(const WeightSource& weights, const ModelConfig& config);

  // Rows of the stack that the item has.
  int64_t RowsOf(const EncoderItem& item) const;
  // Writes [rows, D] of all items, one after another. Precondition: ids are in the vocabulary.
  void Apply(std::span<const EncoderItem> items, PositionTable* positions, Scratch* scratch,
             float* x_RD) const;

 private:
  // Patches times their matrix, after the class token; positions are added.
  struct Patches {
    Linear product;
    int64_t patch_size = 0;
    const float* class_token_D = nullptr;  // null: none
    const TensorView* learned = nullptr;   // positions; null for others
    std::optional<Norm> norm;              // of the sum
  };
  void ApplyPatches(std::span<const float> numbers, PositionTable* positions, Scratch* scratch,
                    float* x_RD) const;

  StackConfig config_;
  std::optional<Embedding> tokens_;
  std::optional<Patches> patches_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_BLOCKS_INPUT_H_
