// What each process of a training did in some updates. No Torch here.
#ifndef ATTEND_TRAIN_LOOP_RANK_WORK_H_
#define ATTEND_TRAIN_LOOP_RANK_WORK_H_

#include <cstdint>

namespace attend {

// Sums over the updates since the last report. Times are the host's: a GPU may compute on
// meanwhile.
struct RankWork {
  double targets = 0;            // that this rank computed the loss of
  double loss = 0;               // summed over them; NaN where an update's was not finite
  double computing_seconds = 0;  // forward and backward
  double waiting_seconds = 0;    // after that, for the gradients of the other ranks
  double data_seconds = 0;       // waiting for batches

  static constexpr int64_t kNumbers = 5;
};
static_assert(sizeof(RankWork) == RankWork::kNumbers * sizeof(double));

}  // namespace attend

#endif  // ATTEND_TRAIN_LOOP_RANK_WORK_H_
