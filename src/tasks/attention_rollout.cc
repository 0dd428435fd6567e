#include "tasks/attention_rollout.h"

namespace attend {
namespace {

// [R, R] of a layer with R rows.
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

}  // namespace

RowAttention AttentionOfRows(const AttentionWeights& weights, const std::vector<double>& read) {
  RowAttention found;
  for (const auto& layer : weights) {
    auto& heads = found.heads.emplace_back();
    for (const auto& head : layer) heads.push_back(TimesMatrix(read, head));
  }
  found.rollout = read;
  for (size_t layer = weights.size(); layer-- > 0;)
    found.rollout = TimesMatrix(found.rollout, MixedHeads(weights[layer]));
  return found;
}

std::vector<double> FirstRow(size_t rows) {
  std::vector<double> first(rows);
  first[0] = 1;
  return first;
}

}  // namespace attend
