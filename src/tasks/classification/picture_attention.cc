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
std::vector<float> OfPatches(std::span<const double> row, const PatchInput& input) {
  const std::span<const double> patches = row.subspan(input.class_token ? 1 : 0);
  return {patches.begin(), patches.end()};
}

}  // namespace

PictureAttention PictureAttentionOf(const AttentionWeights& weights, const ModelConfig& config) {
  const PatchInput& input = *config.patches;
  PictureAttention found{.rows = input.height / input.patch, .columns = input.width / input.patch};
  const RowAttention attention = AttentionOfRows(
      weights, PooledRows(static_cast<size_t>(input.rows()), input, config.pooling));
  for (const auto& heads : attention.heads) {
    auto& maps = found.heads.emplace_back();
    for (const auto& head : heads) maps.push_back(OfPatches(head, input));
  }
  found.rollout = OfPatches(attention.rollout, input);
  return found;
}

Json MapsToJson(const AttentionMaps& maps) {
  Json layers = Json::array();
  for (const auto& layer : maps) {
    Json heads = Json::array();
    for (const std::vector<float>& map : layer) heads.push_back(FloatsToJson(map));
    layers.push_back(std::move(heads));
  }
  return layers;
}

Json PictureAttentionToJson(const PictureAttention& attention, const Picture& picture) {
  return {{"picture", PngDataUrl(picture)},
          {"rows", attention.rows},
          {"columns", attention.columns},
          {"heads", MapsToJson(attention.heads)},
          {"rollout", FloatsToJson(attention.rollout)}};
}

}  // namespace attend
