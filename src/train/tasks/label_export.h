// What an exported model with a head of labels holds beside its weights.
#ifndef ATTEND_TRAIN_TASKS_LABEL_EXPORT_H_
#define ATTEND_TRAIN_TASKS_LABEL_EXPORT_H_

#include "attend/nn/transformer.h"
#include "model/model_directory.h"
#include "model/sample.h"
#include "train/export.h"

namespace attend {

// The likeliest label of each row that the head labels, of one text or picture.
Sample LabelSample(nn::Transformer& transformer, const nn::PackedIds& read);

// As TrainableTask::complete_model promises, for labels of text.
void CompleteLabelModel(const ExportedRun& run, Model* model);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_LABEL_EXPORT_H_
