#include "engine/stacks/fused_input.h"

#include <algorithm>
#include <string>
#include <vector>

namespace attend {

FusedInput::FusedInput(const WeightSource& weights, const ModelConfig& config)
    : width_(config.encoder->d_model),
      text_{Encoder(weights, EncoderShape("text", config.fusion->text)),
            Linear(weights, {"encoder.from_text.weight"}), config.fusion->text.d_model},
      picture_{
          Encoder(weights, EncoderShape("picture", config.fusion->picture, config.fusion->patches)),
          Linear(weights, {"encoder.from_picture.weight"}), config.fusion->picture.d_model},
      summary_D_(weights.tensors.Get("encoder.summary").f32()) {
  if (const TensorView* nodes = weights.tensors.Find(kNodesName)) nodes_ND_ = nodes->f32();
  if (config.fusion->shared_width == 0) return;
  text_.projection.emplace(weights, std::vector<std::string>{"text.projection.weight"});
  picture_.projection.emplace(weights, std::vector<std::string>{"picture.projection.weight"});
}

int64_t FusedInput::RowsOf(const EncoderItem& item) const {
  int64_t rows = 1 + std::ssize(item.nodes);
  if (!item.ids.empty()) rows += text_.encoder.RowsOf(item.ids);
  if (!item.numbers.empty()) rows += picture_.encoder.RowsOf(EncoderItem(item.numbers));
  return rows;
}

void FusedInput::Write(const Below& part, std::span<const EncoderItem> inputs,
                       std::span<int64_t> first_rows, PositionTable* positions, Scratch* scratch,
                       float* x_RD) const {
  std::vector<EncoderItem> present;
  for (const EncoderItem& input : inputs)
    if (!input.ids.empty() || !input.numbers.empty()) present.push_back(input);
  if (present.empty()) return;
  part.encoder.Run(present, positions, scratch, {}, &scratch->part_RD);
  const float* made = scratch->part_RD.Get(0);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].ids.empty() && inputs[i].numbers.empty()) continue;
    const int64_t rows = part.encoder.RowsOf(inputs[i]);
    part.product.Apply(made, rows, &scratch->linear, x_RD + first_rows[i] * width_);
    made += rows * part.width;
    first_rows[i] += rows;
  }
}

void FusedInput::Apply(std::span<const EncoderItem> items, PositionTable* positions,
                       Scratch* scratch, float* x_RD) const {
  std::vector<int64_t> next_rows;
  std::vector<EncoderItem> texts, pictures;
  int64_t row = 0;
  for (const EncoderItem& item : items) {
    std::copy_n(summary_D_, width_, x_RD + row * width_);
    next_rows.push_back(row + 1);
    row += RowsOf(item);
    texts.emplace_back(item.ids);
    pictures.emplace_back(item.numbers);
  }
  Write(text_, texts, next_rows, positions, scratch, x_RD);
  Write(picture_, pictures, next_rows, positions, scratch, x_RD);
  for (size_t i = 0; i < items.size(); ++i) {
    for (const int32_t node : items[i].nodes)
      std::copy_n(nodes_ND_ + node * width_, width_, x_RD + next_rows[i]++ * width_);
  }
}

void FusedInput::ApplyShared(Part part, std::span<const EncoderItem> items,
                             PositionTable* positions, Scratch* scratch, float* vectors_BW) const {
  const Below& below = part == Part::kText ? text_ : picture_;
  std::vector<EncoderItem> parts;
  std::vector<int64_t> lengths;
  for (const EncoderItem& item : items) {
    parts.push_back(part == Part::kText ? EncoderItem(item.ids) : EncoderItem(item.numbers));
    lengths.push_back(below.encoder.RowsOf(parts.back()));
  }
  below.encoder.Run(parts, positions, scratch, {}, &scratch->part_RD);
  float* const means_BD = scratch->part_RD.Get(0);
  MeanRows(lengths, below.width, means_BD);
  below.projection->Apply(means_BD, std::ssize(items), &scratch->linear, vectors_BW);
  for (size_t i = 0; i < items.size(); ++i)
    MakeUnit({vectors_BW + i * below.projection->columns(),
              static_cast<size_t>(below.projection->columns())});
}

}  // namespace attend
