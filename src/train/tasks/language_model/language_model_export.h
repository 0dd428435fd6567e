// What an exported language model holds beside its weights.
#ifndef ATTEND_TRAIN_TASKS_LANGUAGE_MODEL_LANGUAGE_MODEL_EXPORT_H_
#define ATTEND_TRAIN_TASKS_LANGUAGE_MODEL_LANGUAGE_MODEL_EXPORT_H_

#include <vector>

#include "base/json.h"
#include "data/documents.h"
#include "model/model_directory.h"
#include "train/export.h"

namespace attend {

// Beginnings of documents, as ids, that the exported model is to prove itself on.
Json SampleIds(const Documents& documents, const ModelConfig& model);

// As TrainableTask::complete_model promises.
void CompleteLanguageModel(const ExportedRun& run, Model* model);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_LANGUAGE_MODEL_LANGUAGE_MODEL_EXPORT_H_
