#include "data/shard.h"

#include <algorithm>
#include <numeric>

namespace attend {
namespace {

// The part of each example: that in which the middle of its work falls.
std::vector<int64_t> PartsOf(const Examples& examples, int64_t parts,
                             const std::function<double(const Example&)>& work) {
  std::vector<double> ends;
  double end = 0;
  for (const Example example : examples) ends.push_back(end += work(example));
  std::vector<int64_t> part_of;
  double begin = 0;
  for (const double each : ends) {
    const double middle = (begin + each) / 2 / end;
    part_of.push_back(
        std::min(static_cast<int64_t>(middle * static_cast<double>(parts)), parts - 1));
    begin = each;
  }
  return part_of;
}

// The rank that has each whole batch: the heaviest batch left goes to the rank with the least work
// so far, of those that do not have their number yet.
std::vector<int64_t> RanksOf(std::span<const Batch> batches, int64_t ranks,
                             const std::function<double(const Example&)>& work) {
  std::vector<double> weights;
  for (const Batch& batch : batches) {
    double& weight = weights.emplace_back(0);
    for (const Example example : batch.examples()) weight += work(example);
  }
  std::vector<int64_t> by_weight(batches.size()), rank_of(batches.size());
  std::iota(by_weight.begin(), by_weight.end(), 0);
  std::stable_sort(by_weight.begin(), by_weight.end(),
                   [&](int64_t a, int64_t b) { return weights[a] > weights[b]; });
  struct Load {
    bool full = false;
    double work = 0;
    int64_t batches = 0;
    auto operator<=>(const Load&) const = default;
  };
  std::vector<Load> loads(ranks);
  for (const int64_t index : by_weight) {
    const auto least = std::min_element(loads.begin(), loads.end());
    rank_of[index] = least - loads.begin();
    least->work += weights[index];
    least->full = ++least->batches * ranks == std::ssize(batches);
  }
  return rank_of;
}

}  // namespace

std::vector<std::vector<Shard>> CutIntoShards(const GlobalBatch& batch, const ShardParts& parts,
                                              const std::function<double(const Example&)>& work) {
  const std::span<const Batch> batches = batch.batches;
  const int64_t whole = std::ssize(batches) / parts.ranks * parts.ranks;
  const std::vector<int64_t> rank_of = RanksOf(batches.first(whole), parts.ranks, work);
  std::vector<std::vector<Shard>> shards(parts.ranks * parts.threads);
  Shard shard;
  for (int64_t index = 0; index < std::ssize(batches); ++index) {
    const Examples examples = batches[index].examples();
    const int64_t first = index < whole ? rank_of[index] * parts.threads : 0;
    const std::vector<int64_t> part_of =
        PartsOf(examples, index < whole ? parts.threads : std::ssize(shards), work);
    shard.tokens_before.resize(examples.columns());
    for (int64_t begin = 0, end = 0; begin < examples.size(); begin = end) {
      while (end < examples.size() && part_of[end] == part_of[begin]) ++end;
      shard.examples = examples.Part(begin, end - begin);
      shards[first + part_of[begin]].push_back(shard);
      shard.examples_before += shard.examples.size();
      for (const Example example : shard.examples) {
        for (int64_t column = 0; column < examples.columns(); ++column)
          shard.tokens_before[column] += example.Length(column);
      }
    }
  }
  return shards;
}

}  // namespace attend
