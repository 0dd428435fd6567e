// Which examples of a window share a batch, and in which order batches come: a pure function of the
// lengths, the options, the epoch and the window's number.
#ifndef ATTEND_DATA_BATCH_PLAN_H_
#define ATTEND_DATA_BATCH_PLAN_H_

#include <cstdint>
#include <vector>

#include "data/example_table.h"

namespace attend {

struct BatchLimits {
  // Bound on rows times the longer side, padding included; of sequences, on all their parts.
  int64_t tokens = 4096;
  int64_t sentences = 0;  // bound on rows; 0: none
};

// Rows of the table, batch by batch.
using BatchPlan = std::vector<std::vector<int64_t>>;

// An example's cost in a batch is its longest column of ids or numbers; a batch costs rows times
// its largest cost. Where columns are read as one sequence, the cost is their sum, and that of a
// batch all costs together: such batches are never padded. An example that alone is over the bound
// makes a batch by itself.
//
// Examples are shuffled by (seed, epoch, window), cut into stretches of many batches, sorted by
// length inside their stretch, cut into batches, and the batches shuffled: batches hold examples of
// similar length, and other companions each epoch. Sequences are not sorted, for those that lack
// the same parts would come together.
BatchPlan ShuffledBatches(const ExampleTable& table, const BatchLimits& limits, uint64_t seed,
                          int64_t epoch, int64_t window);

// One pass sorted by length, the longest first; equal lengths, and sequences, in the table's order.
BatchPlan BatchesByLength(const ExampleTable& table, const BatchLimits& limits);

}  // namespace attend

#endif  // ATTEND_DATA_BATCH_PLAN_H_
