#include "tasks/classification/picture_attention.h"

#include <cstddef>
#include <span>
#include <utility>

#include "media/picture_codec.h"
#include "tasks/attention_rollout.h"

namespace attend {
namespace {

// How much the rows count in what the head reads: the class token alone, or all alike. [T]
std::vector<double> PooledRows(size_t rows, const PatchInput& input, Pooling pooling) {
  if (input.class_token && pooling == Pooling::kFirst) return FirstRow(rows);
  return std::vector<double>(rows, 1 / static_cast<double>(rows));
}

// Without the class token's own number.
std::vector<float> OfSquares(std::span<const double> row, const PatchInput& input) {
  const std::span<const double> squares = row.subspan(input.class_token ? 1 : 0);
  return {squares.begin(), squares.end()};
}

}  // namespace

PictureAttention PictureAttentionOf(const AttentionWeights& weights, const ModelConfig& config) {
  const PatchInput& input = *config.patches;
  PictureAttention found{.rows = input.height / input.patch, .columns = input.width / input.patch};
  const RowAttention attention = AttentionOfRows(
      weights, PooledRows(static_cast<size_t>(input.rows()), input, config.pooling));
  for (const auto& heads : attention.heads) {
    auto& maps = found.heads.emplace_back();
    for (const auto& head : heads) maps.push_back(OfSquares(head, input));
  }
  found.rollout = OfSquares(attention.rollout, input);
  return found;
}

Json PictureAttentionToJson(const PictureAttention& attention, const Picture& picture) {
  Json heads = Json::array();
  for (const auto& layer : attention.heads) {
    Json maps = Json::array();
    for (const std::vector<float>& map : layer) maps.push_back(FloatsToJson(map));
    heads.push_back(std::move(maps));
  }
  return {{"picture", PngDataUrl(picture)},
          {"rows", attention.rows},
          {"columns", attention.columns},
          {"heads", std::move(heads)},
          {"rollout", FloatsToJson(attention.rollout)}};
}

}  // namespace attend
