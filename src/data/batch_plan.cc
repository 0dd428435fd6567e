#include "data/batch_plan.h"

#include <algorithm>
#include <numeric>

#include "base/random.h"

namespace attend {
namespace {

// Batches to a window: many, so that lengths inside a batch are close; not all of an epoch's where
// the corpus is large, so that composition varies.
constexpr int64_t kWindowBatches = 100;
constexpr uint64_t kShuffleKey = 0x62617463686573;  // "batches"

}  // namespace

BatchPlanner::BatchPlanner(const ExampleSource& source, const BatchOptions& options)
    : options_(options), columns_(source.column_names().size()) {
  lengths_.reserve(static_cast<size_t>(source.size()) * columns_);
  for (int64_t index = 0; index < source.size(); ++index) {
    for (const int64_t length : source.Lengths(index))
      lengths_.push_back(static_cast<int32_t>(length));
  }
}

int64_t BatchPlanner::Cost(int64_t index) const {
  const auto begin = lengths_.begin() + index * static_cast<int64_t>(columns_);
  return *std::max_element(begin, begin + static_cast<int64_t>(columns_));
}

// By cost, then by each column from the last (what is predicted) to the first.
bool BatchPlanner::Longer(int64_t a, int64_t b) const {
  const int64_t cost_a = Cost(a), cost_b = Cost(b);
  if (cost_a != cost_b) return cost_a > cost_b;
  for (size_t column = columns_; column-- > 0;) {
    const int32_t length_a = lengths_[a * columns_ + column],
                  length_b = lengths_[b * columns_ + column];
    if (length_a != length_b) return length_a > length_b;
  }
  return false;
}

void BatchPlanner::Cut(const std::vector<int64_t>& order, size_t begin, size_t end,
                       std::vector<std::vector<int64_t>>* batches) const {
  std::vector<int64_t> batch;
  int64_t longest = 0;
  for (size_t i = begin; i < end; ++i) {
    const int64_t rows = std::ssize(batch) + 1;
    const int64_t cost = std::max(longest, Cost(order[i]));
    const bool full = rows * cost > options_.batch_tokens ||
                      (options_.max_sentences > 0 && rows > options_.max_sentences);
    if (full && !batch.empty()) {
      batches->push_back(std::move(batch));
      batch.clear();
      longest = 0;
    }
    longest = std::max(longest, Cost(order[i]));
    batch.push_back(order[i]);
  }
  if (!batch.empty()) batches->push_back(std::move(batch));
}

std::vector<std::vector<int64_t>> BatchPlanner::Epoch(int64_t epoch) const {
  std::vector<int64_t> order(lengths_.size() / columns_);
  std::iota(order.begin(), order.end(), 0);
  Random random{options_.seed, static_cast<uint64_t>(epoch), kShuffleKey};
  random.Shuffle(&order);
  std::vector<std::vector<int64_t>> batches;
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    for (int64_t tokens = 0; end < order.size() && tokens < kWindowBatches * options_.batch_tokens;
         ++end) {
      tokens += Cost(order[end]);
    }
    std::stable_sort(order.begin() + static_cast<int64_t>(begin),
                     order.begin() + static_cast<int64_t>(end),
                     [this](int64_t a, int64_t b) { return Longer(a, b); });
    Cut(order, begin, end, &batches);
  }
  random.Shuffle(&batches);
  return batches;
}

std::vector<std::vector<int64_t>> BatchPlanner::ByLength() const {
  std::vector<int64_t> order(lengths_.size() / columns_);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [this](int64_t a, int64_t b) { return Longer(a, b); });
  std::vector<std::vector<int64_t>> batches;
  Cut(order, 0, order.size(), &batches);
  return batches;
}

double PaddingShare(const ExampleSource& source, const std::vector<std::vector<int64_t>>& batches) {
  int64_t tokens = 0, positions = 0;
  for (const std::vector<int64_t>& batch : batches) {
    std::vector<int64_t> longest(source.column_names().size());
    for (const int64_t index : batch) {
      const std::vector<int64_t> lengths = source.Lengths(index);
      for (size_t column = 0; column < lengths.size(); ++column) {
        tokens += lengths[column];
        longest[column] = std::max(longest[column], lengths[column]);
      }
    }
    for (const int64_t length : longest) positions += length * std::ssize(batch);
  }
  return positions == 0 ? 0 : 1 - static_cast<double>(tokens) / static_cast<double>(positions);
}

std::vector<std::vector<int64_t>> BatchesByLength(const ExampleSource& source,
                                                  const BatchOptions& options) {
  return BatchPlanner(source, options).ByLength();
}

}  // namespace attend
