// What an exported parser holds beside its weights.
#ifndef ATTEND_TRAIN_TASKS_PARSING_PARSING_EXPORT_H_
#define ATTEND_TRAIN_TASKS_PARSING_PARSING_EXPORT_H_

#include "model/model_directory.h"
#include "train/export.h"

namespace attend {

// As TrainableTask::complete_model promises.
void CompleteParsingModel(const ExportedRun& run, Model* model);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_PARSING_PARSING_EXPORT_H_
