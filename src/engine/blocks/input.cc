#include "engine/blocks/input.h"

#include <algorithm>

namespace attend {

InputLayer::InputLayer(const WeightSource& weights, const ModelConfig& config)
    : config_(*config.encoder) {
  if (config.input == InputKind::kTokens) {
    tokens_.emplace(weights, "encoder.embedding.weight", "encoder", config_);
    return;
  }
  patches_.emplace();
  patches_->product = Linear(weights, {"encoder.patches.weight"});
  patches_->patch_size = config.patches->patch_size();
  if (config.patches->class_token)
    patches_->class_token_D = weights.tensors.Get("encoder.patches.class_token").f32();
  patches_->learned = weights.tensors.Find("encoder.positions.weight");
  if (config_.embedding_norm) patches_->norm.emplace(weights, "encoder.embedding_norm", config_);
}

int64_t InputLayer::RowsOf(const EncoderItem& item) const {
  if (tokens_) return std::ssize(item.ids);
  return std::ssize(item.numbers) / patches_->patch_size +
         (patches_->class_token_D != nullptr ? 1 : 0);
}

void InputLayer::ApplyPatches(std::span<const float> numbers, PositionTable* positions,
                              Scratch* scratch, float* x_RD) const {
  const int64_t width = config_.d_model, squares = std::ssize(numbers) / patches_->patch_size;
  const int64_t before = patches_->class_token_D != nullptr ? 1 : 0, rows = squares + before;
  if (before == 1) std::copy_n(patches_->class_token_D, width, x_RD);
  patches_->product.Apply(numbers.data(), squares, &scratch->linear, x_RD + before * width);
  for (int64_t row = 0; row < rows; ++row) {
    float* const x_D = x_RD + row * width;
    const float* const position_D = positions->Row(config_, patches_->learned, row);
    if (position_D == nullptr) continue;
    for (int64_t d = 0; d < width; ++d) x_D[d] += position_D[d];
  }
  if (patches_->norm) patches_->norm->Apply(x_RD, rows, x_RD);
}

void InputLayer::Apply(std::span<const EncoderItem> items, PositionTable* positions,
                       Scratch* scratch, float* x_RD) const {
  const int64_t width = config_.d_model;
  for (const EncoderItem& item : items) {
    if (patches_) ApplyPatches(item.numbers, positions, scratch, x_RD);
    for (int64_t t = 0; t < std::ssize(item.ids); ++t)
      tokens_->Apply(item.ids[t], t, positions, x_RD + t * width);
    x_RD += RowsOf(item) * width;
  }
}

}  // namespace attend
