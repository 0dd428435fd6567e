// That all processes of a run were given the same options and read the same data.
#ifndef ATTEND_TRAIN_DISTRIBUTED_RANKS_AGREE_H_
#define ATTEND_TRAIN_DISTRIBUTED_RANKS_AGREE_H_

#include "base/log.h"
#include "train/checkpoint/train_state.h"
#include "train/distributed/process_group.h"

namespace attend {

// Called by all ranks together. Throws Error(kConfiguration) on a rank whose run is not rank 0's,
// naming what differs; what may change the last bits only, such as another processor, goes to
// `log`.
void CheckRanksAgree(const RunIdentity& identity, const Log& log, ProcessGroup* group);

}  // namespace attend

#endif  // ATTEND_TRAIN_DISTRIBUTED_RANKS_AGREE_H_
