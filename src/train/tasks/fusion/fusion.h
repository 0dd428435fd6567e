// Fusion as a task that can be trained: labels of items with several inputs.
#ifndef ATTEND_TRAIN_TASKS_FUSION_FUSION_H_
#define ATTEND_TRAIN_TASKS_FUSION_FUSION_H_

#include "train/tasks/registry.h"

namespace attend {

const TrainableTask& TrainableFusion();

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_FUSION_FUSION_H_
