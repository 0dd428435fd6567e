// Classification as a task that can be trained.
#ifndef ATTEND_TRAIN_TASKS_CLASSIFICATION_CLASSIFICATION_H_
#define ATTEND_TRAIN_TASKS_CLASSIFICATION_CLASSIFICATION_H_

#include "train/tasks/registry.h"

namespace attend {

const TrainableTask& TrainableClassification();

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_CLASSIFICATION_CLASSIFICATION_H_
