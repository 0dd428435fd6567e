// Masked language models as a task that can be trained.
#ifndef ATTEND_TRAIN_TASKS_MASKED_LANGUAGE_MODEL_MASKED_LANGUAGE_MODEL_H_
#define ATTEND_TRAIN_TASKS_MASKED_LANGUAGE_MODEL_MASKED_LANGUAGE_MODEL_H_

#include "train/tasks/registry.h"

namespace attend {

const TrainableTask& TrainableMaskedLanguageModel();

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_MASKED_LANGUAGE_MODEL_MASKED_LANGUAGE_MODEL_H_
