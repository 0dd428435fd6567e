// What one update learns from, and the parts of it that threads take: a shard is some of the
// update's examples and their position in it.
//
// Random choices are keyed by the position, so that they are the same however a batch is cut and
// whoever computes a part: one thread or many, all at once or one batch after the other.
#ifndef ATTEND_DATA_SHARD_H_
#define ATTEND_DATA_SHARD_H_

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "data/batch_stream.h"

namespace attend {

// All examples of one update, in order, in batches small enough for one pass each.
struct GlobalBatch {
  std::vector<Batch> batches;
  int64_t targets = 0;  // that the loss is a mean over
};

// Consecutive examples of one batch, at least one; the batch must outlive the shard. What the
// global batch has before them is their position.
struct Shard {
  Examples examples;
  int64_t examples_before = 0;
  std::vector<int64_t> tokens_before;  // by column: ids, labels or rows of numbers
};

// The processes that share an update, and the threads of each.
struct ShardParts {
  int64_t ranks = 1, threads = 1;
};

// Gives each rank as many whole batches as each can have, of about equal work in all, cut over its
// threads, since large passes are the fast ones; the batches that are left are cut over all ranks'
// threads. Shards are consecutive examples of about equal work. Those of rank r's thread t are in
// result[r * threads + t], in the order of the batches; some parts have fewer where a batch has
// fewer examples than parts. `work` is in any unit.
std::vector<std::vector<Shard>> CutIntoShards(const GlobalBatch& batch, const ShardParts& parts,
                                              const std::function<double(const Example&)>& work);

}  // namespace attend

#endif  // ATTEND_DATA_SHARD_H_
