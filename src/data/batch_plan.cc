#include "data/batch_plan.h"

#include <algorithm>
#include <numeric>

#include "base/random.h"

namespace attend {
namespace {

// Batches to a stretch: many, so that lengths inside a batch are close; not all of a window's where
// it is large, so that composition varies.
constexpr int64_t kStretchBatches = 100;
constexpr uint64_t kShuffleKey = 0x62617463686573;  // "batches"

int64_t Cost(const ExampleTable& table, int64_t row) {
  int64_t longest = 0, sum = 0;
  for (int64_t column = 0; column < table.columns(); ++column) {
    if (table.type(column).kind == ColumnKind::kLabels) continue;
    const int64_t length = table[row].Length(column);
    longest = std::max(longest, length);
    sum += length;
  }
  return table.read_as() == ReadAs::kSequence ? sum : longest;
}

// By cost, then by each column from the last (what is predicted) to the first.
bool Longer(const ExampleTable& table, int64_t a, int64_t b) {
  const int64_t cost_a = Cost(table, a), cost_b = Cost(table, b);
  if (cost_a != cost_b) return cost_a > cost_b;
  for (int64_t column = table.columns(); column-- > 0;) {
    const int64_t length_a = table[a].Length(column), length_b = table[b].Length(column);
    if (length_a != length_b) return length_a > length_b;
  }
  return false;
}

std::vector<int64_t> AllOf(const ExampleTable& table) {
  std::vector<int64_t> order(table.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// Sorts [begin, end) of `order` by length, where padding depends on it, and cuts it where the next
// example would go over the bounds.
void SortAndCut(const ExampleTable& table, const BatchLimits& limits, int64_t* begin, int64_t* end,
                BatchPlan* batches) {
  const bool sequences = table.read_as() == ReadAs::kSequence;
  if (!sequences)
    std::stable_sort(begin, end, [&](int64_t a, int64_t b) { return Longer(table, a, b); });
  std::vector<int64_t> batch;
  int64_t longest = 0, sum = 0;
  for (const int64_t* row = begin; row != end; ++row) {
    const int64_t rows = std::ssize(batch) + 1;
    const int64_t cost = Cost(table, *row);
    const int64_t tokens = sequences ? sum + cost : rows * std::max(longest, cost);
    const bool full = tokens > limits.tokens || (limits.sentences > 0 && rows > limits.sentences);
    if (full && !batch.empty()) {
      batches->push_back(std::move(batch));
      batch.clear();
      longest = sum = 0;
    }
    longest = std::max(longest, cost);
    sum += cost;
    batch.push_back(*row);
  }
  if (!batch.empty()) batches->push_back(std::move(batch));
}

}  // namespace

BatchPlan ShuffledBatches(const ExampleTable& table, const BatchLimits& limits, uint64_t seed,
                          int64_t epoch, int64_t window) {
  std::vector<int64_t> order = AllOf(table);
  const uint64_t time = static_cast<uint64_t>(epoch) | static_cast<uint64_t>(window) << 32;
  Random random{seed, time, kShuffleKey};
  random.Shuffle(&order);
  BatchPlan batches;
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    for (int64_t tokens = 0; end < order.size() && tokens < kStretchBatches * limits.tokens; ++end)
      tokens += Cost(table, order[end]);
    SortAndCut(table, limits, order.data() + begin, order.data() + end, &batches);
  }
  random.Shuffle(&batches);
  return batches;
}

BatchPlan BatchesByLength(const ExampleTable& table, const BatchLimits& limits) {
  std::vector<int64_t> order = AllOf(table);
  BatchPlan batches;
  SortAndCut(table, limits, order.data(), order.data() + order.size(), &batches);
  return batches;
}

}  // namespace attend
