// What an exported translation model holds beside its weights: vocabularies, samples written by the
// LibTorch model, what the training text was like.
#ifndef ATTEND_TRAIN_TASKS_TRANSLATION_TRANSLATION_EXPORT_H_
#define ATTEND_TRAIN_TASKS_TRANSLATION_TRANSLATION_EXPORT_H_

#include <string>
#include <vector>

#include "attend/nn/sequence_model.h"
#include "base/json.h"
#include "model/model_directory.h"
#include "model/sample.h"
#include "train/export.h"
#include "train/tasks/translation/vocabularies.h"
#include "train/train_options.h"

namespace attend {

// How the text was prepared, for people: Model::tokenization.
Json DescribeTokenization(const TrainOptions& options, const Vocabularies& vocabularies);

// The first of `lines` that the exported model is to prove itself on.
Json SampleSources(const std::vector<std::string>& lines);

// What the LibTorch model writes, always its likeliest token, with log-probabilities and the
// largest logits of each step. `source` is what the encoder reads; at most `limit` tokens.
Sample WriteGreedily(nn::SequenceModelImpl& model, std::vector<int32_t> source, int64_t limit);
// The same for one sentence, with its text.
Sample MakeSample(nn::SequenceModelImpl& model, const Vocabularies& vocabularies,
                  const std::string& source);

void CompleteTranslationModel(const ExportedRun& run, Model* model);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_TRANSLATION_TRANSLATION_EXPORT_H_
