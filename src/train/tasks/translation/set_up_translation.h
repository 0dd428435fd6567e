// From a run's options to a translation task: checks, vocabularies, text.
#ifndef ATTEND_TRAIN_TASKS_TRANSLATION_SET_UP_TRANSLATION_H_
#define ATTEND_TRAIN_TASKS_TRANSLATION_SET_UP_TRANSLATION_H_

#include <memory>

#include "train/set_up.h"

namespace attend {

std::unique_ptr<TrainingTask> SetUpTranslation(const TaskSetup& setup);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_TRANSLATION_SET_UP_TRANSLATION_H_
