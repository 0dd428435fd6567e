// What an exported masked language model holds beside its weights.
#ifndef ATTEND_TRAIN_TASKS_MASKED_LANGUAGE_MODEL_MASKED_LANGUAGE_MODEL_EXPORT_H_
#define ATTEND_TRAIN_TASKS_MASKED_LANGUAGE_MODEL_MASKED_LANGUAGE_MODEL_EXPORT_H_

#include "base/json.h"
#include "data/masked_corpus.h"
#include "model/model_directory.h"
#include "train/export.h"

namespace attend {

// Beginnings of documents, with what is hidden of them, that the exported model is to prove itself
// on: lists of ids that it reads, and of those that stand there.
Json MaskedSamples(const ExampleTable& contexts);

// As TrainableTask::complete_model promises.
void CompleteMaskedLanguageModel(const ExportedRun& run, Model* model);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_MASKED_LANGUAGE_MODEL_MASKED_LANGUAGE_MODEL_EXPORT_H_
