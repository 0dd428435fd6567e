// Parsing as the registry of tasks has it.
#ifndef ATTEND_TRAIN_TASKS_PARSING_PARSING_H_
#define ATTEND_TRAIN_TASKS_PARSING_PARSING_H_

#include "train/tasks/registry.h"

namespace attend {

const TrainableTask& TrainableParsing();

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_PARSING_PARSING_H_
