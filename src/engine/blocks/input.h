// What enters an encoder: rows of the residual stream, made of tokens or of numbers: patches of a
// picture or frames of a recording.
#ifndef ATTEND_ENGINE_BLOCKS_INPUT_H_
#define ATTEND_ENGINE_BLOCKS_INPUT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attend/model_config.h"
#include "engine/blocks/convolution.h"
#include "engine/blocks/layer.h"

namespace attend {

// What an encoder reads of one item: ids of tokens, or rows of numbers; a joint encoder what the
// item has of ids, numbers and linked nodes. As cheap to copy as a span.
struct EncoderItem {
  EncoderItem() = default;
  EncoderItem(std::span<const int32_t> of_tokens) : ids(of_tokens) {}  // NOLINT: the common case
  explicit EncoderItem(std::span<const float> of_rows) : numbers(of_rows) {}

  std::span<const int32_t> ids;
  std::span<const float> numbers;  // [patches, patch size] or [frames, mels]
  std::span<const int32_t> nodes;
};

// A stack over tokens, patches or frames, and the name that its tensors begin with.
struct EncoderShape {
  // Precondition: the model has an encoder.
  explicit EncoderShape(const ModelConfig& model)
      : stack(*model.encoder), input(model.input), patches(model.patches), frames(model.frames) {}
  // Those below a joint encoder, of tokens and of patches.
  EncoderShape(std::string of_text, const StackConfig& config)
      : name(std::move(of_text)), stack(config), input(InputKind::kTokens) {}
  EncoderShape(std::string of_pictures, const StackConfig& config, const PatchInput& read)
      : name(std::move(of_pictures)), stack(config), input(InputKind::kPatches), patches(read) {}

  std::string name = "encoder";
  StackConfig stack;
  InputKind input;
  std::optional<PatchInput> patches;
  std::optional<FrameInput> frames;
};

// Immutable; shared between threads, each with a Scratch and PositionTable of its own.
class InputLayer {
 public:
  // Precondition: the shape does not read items.
  InputLayer(const WeightSource& weights, const EncoderShape& shape);

  // Rows of the stack that the item has.
  int64_t RowsOf(const EncoderItem& item) const;
  // Writes [rows, D] of all items, one after another. Precondition: ids are in the vocabulary.
  void Apply(std::span<const EncoderItem> items, PositionTable* positions, Scratch* scratch,
             float* x_RD) const;

 private:
  // Patches times their matrix, after the class token.
  struct Patches {
    Linear product;
    int64_t patch_size = 0;
    const float* class_token_D = nullptr;  // null: none
  };
  // Frames through one convolution after another.
  struct Frames {
    FrameInput input;
    std::vector<TimeConvolution> convolutions;
  };
  void ApplyPatches(std::span<const float> numbers, Scratch* scratch, float* x_RD) const;
  void ApplyFrames(std::span<const float> numbers, Scratch* scratch, float* x_RD) const;
  // Of an item's rows, made of numbers: positions and norm.
  void Place(int64_t rows, PositionTable* positions, float* x_RD) const;

  StackConfig config_;
  std::optional<Embedding> tokens_;
  std::optional<Patches> patches_;
  std::optional<Frames> frames_;
  // Beside patches and frames.
  const TensorView* learned_ = nullptr;  // positions; null for others
  std::optional<Norm> norm_;             // of the sum
};

}  // namespace attend

#endif  // ATTEND_ENGINE_BLOCKS_INPUT_H_
