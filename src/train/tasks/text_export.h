// What exported models of one text share.
#ifndef ATTEND_TRAIN_TASKS_TEXT_EXPORT_H_
#define ATTEND_TRAIN_TASKS_TEXT_EXPORT_H_

#include <memory>

#include "attend/nn/transformer.h"
#include "attend/vocabulary.h"
#include "model/model_directory.h"
#include "train/export.h"

namespace attend {

struct ExportedTextModel {
  std::shared_ptr<const Vocabulary> vocabulary;
  nn::Transformer transformer;  // with the model's weights, in evaluation mode
};

// Gives the model its vocabulary. Throws what VocabularyOf throws.
ExportedTextModel CompleteTextModel(const ExportedRun& run, Model* model);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_TEXT_EXPORT_H_
