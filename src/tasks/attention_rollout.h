// What comes of an encoder's attention at the rows that its head reads.
#ifndef ATTEND_TASKS_ATTENTION_ROLLOUT_H_
#define ATTEND_TASKS_ATTENTION_ROLLOUT_H_

#include <cstddef>
#include <vector>

#include "attend/scorer.h"

namespace attend {

struct RowAttention {
  // What each head of each layer gives to each row. [layers][heads][R]; each adds to 1.
  std::vector<std::vector<std::vector<double>>> heads;
  // How much of each row comes through all layers: attention rollout (Abnar and Zuidema 2020,
  // section 3). [R], which adds to 1.
  std::vector<double> rollout;
};

// `read`: how much each row counts in what the head reads, [R], which adds to 1. `weights`:
// [layers][heads][R][R], at least one layer.
RowAttention AttentionOfRows(const AttentionWeights& weights, const std::vector<double>& read);

// The first of so many rows alone.
std::vector<double> FirstRow(size_t rows);

}  // namespace attend

#endif  // ATTEND_TASKS_ATTENTION_ROLLOUT_H_
