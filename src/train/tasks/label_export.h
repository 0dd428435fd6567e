// What an exported model with a head of labels holds beside its weights.
#ifndef ATTEND_TRAIN_TASKS_LABEL_EXPORT_H_
#define ATTEND_TRAIN_TASKS_LABEL_EXPORT_H_

#include "model/model_directory.h"
#include "train/export.h"

namespace attend {

// As TrainableTask::complete_model promises.
void CompleteLabelModel(const ExportedRun& run, Model* model);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_LABEL_EXPORT_H_
