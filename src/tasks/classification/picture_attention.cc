#include "tasks/classification/picture_attention.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "media/picture_codec.h"

namespace attend {
namespace {

// [T, T] of a layer with T rows.
using Matrix = std::vector<std::vector<double>>;

// The mean of the heads, half of which is replaced by what residual connections pass on: the row
// itself.
Matrix MixedHeads(const std::vector<std::vector<std::vector<float>>>& heads) {
  const size_t rows = heads[0].size();
  Matrix mixed(rows, std::vector<double>(rows));
  const double share = 0.5 / static_cast<double>(heads.size());
  for (const auto& head : heads)
    for (size_t query = 0; query < rows; ++query)
      for (size_t key = 0; key < rows; ++key) mixed[query][key] += share * head[query][key];
  for (size_t row = 0; row < rows; ++row) mixed[row][row] += 0.5;
  return mixed;
}

template <class Rows>
std::vector<double> TimesMatrix(const std::vector<double>& row, const Rows& matrix) {
  std::vector<double> product(row.size());
  for (size_t query = 0; query < row.size(); ++query)
    for (size_t key = 0; key < row.size(); ++key) product[key] += row[query] * matrix[query][key];
  return product;
}

// How much the rows count in what the head reads: the class token alone, or all alike. [T]
std::vector<double> PooledRows(size_t rows, const PatchInput& input, Pooling pooling) {
  if (input.class_token && pooling == Pooling::kFirst) {
    std::vector<double> first(rows);
    first[0] = 1;
    return first;
  }
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
  const std::vector<double> pooled =
      PooledRows(static_cast<size_t>(input.rows()), input, config.pooling);
  for (const auto& heads : weights) {
    auto& maps = found.heads.emplace_back();
    for (const auto& head : heads) maps.push_back(OfSquares(TimesMatrix(pooled, head), input));
  }
  std::vector<double> rollout = pooled;
  for (size_t layer = weights.size(); layer-- > 0;)
    rollout = TimesMatrix(rollout, MixedHeads(weights[layer]));
  found.rollout = OfSquares(rollout, input);
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
