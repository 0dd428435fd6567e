// Translation as the registry of tasks has it.
#ifndef ATTEND_TRAIN_TASKS_TRANSLATION_TRANSLATION_H_
#define ATTEND_TRAIN_TASKS_TRANSLATION_TRANSLATION_H_

#include "train/tasks/registry.h"

namespace attend {

const TrainableTask& TrainableTranslation();

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_TRANSLATION_TRANSLATION_H_
