// Tagging as a task that can be trained.
#ifndef ATTEND_TRAIN_TASKS_TAGGING_TAGGING_H_
#define ATTEND_TRAIN_TASKS_TAGGING_TAGGING_H_

#include "train/tasks/registry.h"

namespace attend {

const TrainableTask& TrainableTagging();

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_TAGGING_TAGGING_H_
