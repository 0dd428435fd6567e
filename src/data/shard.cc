#include "data/shard.h"

#include <algorithm>

namespace attend {
namespace {

// The part of each example: that in which the middle of its work falls.
std::vector<int64_t> PartsOf(const std::vector<Example>& examples, int64_t parts,
                             const std::function<double(const Example&)>& work) {
  std::vector<double> ends;
  double end = 0;
  for (const Example& example : examples) ends.push_back(end += work(example));
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

}  // namespace

std::vector<std::vector<Shard>> CutIntoShards(const GlobalBatch& batch, int64_t parts,
                                              const std::function<double(const Example&)>& work) {
  std::vector<std::vector<Shard>> shards(parts);
  Shard place;
  for (const Batch& each : batch.batches) {
    const std::span<const Example> examples = each.examples;
    const std::vector<int64_t> part_of = PartsOf(each.examples, parts, work);
    place.tokens_before.resize(examples[0].columns.size());
    for (size_t begin = 0, end = 0; begin < examples.size(); begin = end) {
      while (end < examples.size() && part_of[end] == part_of[begin]) ++end;
      place.examples = examples.subspan(begin, end - begin);
      shards[part_of[begin]].push_back(place);
      place.examples_before += std::ssize(place.examples);
      for (const Example& example : place.examples) {
        for (size_t column = 0; column < example.columns.size(); ++column)
          place.tokens_before[column] += std::ssize(example.columns[column]);
      }
    }
  }
  return shards;
}

}  // namespace attend
