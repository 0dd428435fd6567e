// What a run needs before it can train a language model.
#ifndef ATTEND_TRAIN_TASKS_LANGUAGE_MODEL_SET_UP_LANGUAGE_MODEL_H_
#define ATTEND_TRAIN_TASKS_LANGUAGE_MODEL_SET_UP_LANGUAGE_MODEL_H_

#include <memory>

#include "train/loop/task.h"
#include "train/set_up.h"

namespace attend {

// As TrainableTask::set_up promises.
std::unique_ptr<TrainingTask> SetUpLanguageModel(const TaskSetup& setup);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_LANGUAGE_MODEL_SET_UP_LANGUAGE_MODEL_H_
