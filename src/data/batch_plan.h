// Which examples share a batch, and in which order batches come: a pure function of the lengths,
// the options and the epoch.
#ifndef ATTEND_DATA_BATCH_PLAN_H_
#define ATTEND_DATA_BATCH_PLAN_H_

#include <cstdint>
#include <vector>

#include "data/batch_stream.h"

namespace attend {

// Knows the lengths of all examples; immutable, safe to use from many threads.
class BatchPlanner {
 public:
  BatchPlanner(const ExampleSource& source, const BatchOptions& options);

  // Batches of one epoch, as indices into the source. Examples are shuffled by (seed, epoch), cut
  // into windows of many batches, sorted by length inside their window, cut into batches, and the
  // batches shuffled: batches hold examples of similar length, and other companions each epoch.
  std::vector<std::vector<int64_t>> Epoch(int64_t epoch) const;
  // One pass sorted by length, the longest first; equal lengths in source order.
  std::vector<std::vector<int64_t>> ByLength() const;

 private:
  int64_t Cost(int64_t index) const;
  bool Longer(int64_t a, int64_t b) const;
  // Cuts [begin, end) of sorted `order` where the next example would go over the bounds.
  void Cut(const std::vector<int64_t>& order, size_t begin, size_t end,
           std::vector<std::vector<int64_t>>* batches) const;

  BatchOptions options_;
  size_t columns_;
  std::vector<int32_t> lengths_;  // [example, column]
};

// Share of padding in batches: positions that hold no token, over all columns.
double PaddingShare(const ExampleSource& source, const std::vector<std::vector<int64_t>>& batches);

}  // namespace attend

#endif  // ATTEND_DATA_BATCH_PLAN_H_
