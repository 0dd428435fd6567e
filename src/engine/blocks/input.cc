#include "engine/blocks/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace attend {

InputLayer::InputLayer(const WeightSource& weights, const EncoderShape& shape)
    : config_(shape.stack) {
  const std::string& name = shape.name;
  if (shape.input == InputKind::kTokens) {
    tokens_.emplace(weights, name + ".embedding.weight", name, config_);
    return;
  }
  learned_ = weights.tensors.Find(name + ".positions.weight");
  if (config_.embedding_norm) norm_.emplace(weights, name + ".embedding_norm", config_);
  if (shape.patches) {
    patches_ = Patches{.product = Linear(weights, {name + ".patches.weight"}),
                       .patch_size = shape.patches->patch_size()};
    if (shape.patches->class_token)
      patches_->class_token_D = weights.tensors.Get(name + ".patches.class_token").f32();
    return;
  }
  frames_.emplace(*shape.frames);
  for (size_t i = 0; i < shape.frames->kernels.size(); ++i) {
    const ConvolutionShape convolution{i == 0 ? shape.frames->mels : config_.d_model,
                                       shape.frames->kernels[i], shape.frames->strides[i]};
    frames_->convolutions.emplace_back(weights, fmt::format("{}.convolutions.{}", name, i),
                                       convolution);
  }
}

int64_t InputLayer::RowsOf(const EncoderItem& item) const {
  if (tokens_) return std::ssize(item.ids);
  const int64_t numbers = std::ssize(item.numbers);
  if (frames_) return frames_->input.RowsOf(numbers / frames_->input.mels);
  return numbers / patches_->patch_size + (patches_->class_token_D != nullptr ? 1 : 0);
}

void InputLayer::ApplyPatches(std::span<const float> numbers, Scratch* scratch, float* x_RD) const {
  const int64_t width = config_.d_model, patches = std::ssize(numbers) / patches_->patch_size;
  if (patches_->class_token_D != nullptr) x_RD = std::copy_n(patches_->class_token_D, width, x_RD);
  patches_->product.Apply(numbers.data(), patches, &scratch->linear, x_RD);
}

void InputLayer::ApplyFrames(std::span<const float> numbers, Scratch* scratch, float* x_RD) const {
  const float* in = numbers.data();
  int64_t rows = std::ssize(numbers) / frames_->input.mels;
  // What comes out of one goes into the next, in two buffers that no layer needs yet.
  Buffer *out = &scratch->projected, *next = &scratch->context;
  for (const TimeConvolution& convolution : frames_->convolutions) {
    const int64_t count = convolution.RowsOf(rows);
    const bool last = &convolution == &frames_->convolutions.back();
    float* const y_RD = last ? x_RD : out->Get(count * convolution.columns());
    convolution.Apply(in, rows, scratch, y_RD);
    in = y_RD;
    rows = count;
    std::swap(out, next);
  }
}

void InputLayer::Place(int64_t rows, PositionTable* positions, float* x_RD) const {
  const int64_t width = config_.d_model;
  for (int64_t row = 0; row < rows; ++row) {
    float* const x_D = x_RD + row * width;
    const float* const position_D = positions->Row(config_, learned_, row);
    if (position_D == nullptr) continue;
    for (int64_t d = 0; d < width; ++d) x_D[d] += position_D[d];
  }
  if (norm_) norm_->Apply(x_RD, rows, x_RD);
}

void InputLayer::Apply(std::span<const EncoderItem> items, PositionTable* positions,
                       Scratch* scratch, float* x_RD) const {
  const int64_t width = config_.d_model;
  for (const EncoderItem& item : items) {
    const int64_t rows = RowsOf(item);
    for (int64_t t = 0; t < std::ssize(item.ids); ++t)
      tokens_->Apply(item.ids[t], t, positions, x_RD + t * width);
    if (patches_) ApplyPatches(item.numbers, scratch, x_RD);
    if (frames_) ApplyFrames(item.numbers, scratch, x_RD);
    if (!tokens_) Place(rows, positions, x_RD);
    x_RD += rows * width;
  }
}

}  // namespace attend
