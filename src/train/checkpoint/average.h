// The average of checkpoints' weights.
#ifndef ATTEND_TRAIN_CHECKPOINT_AVERAGE_H_
#define ATTEND_TRAIN_CHECKPOINT_AVERAGE_H_

#include <vector>

#include "model/tensor_table.h"
#include "train/checkpoint/checkpoint_store.h"

namespace attend {

// The arithmetic mean over checkpoints, summed in f64 in the order given; of the moving
// average where a checkpoint has one. Owns its memory. Throws Error(kInput) naming a checkpoint
// that is damaged or of another model.
TensorTable AverageCheckpoints(const std::vector<StoredCheckpoint>& checkpoints);

}  // namespace attend

#endif  // ATTEND_TRAIN_CHECKPOINT_AVERAGE_H_
