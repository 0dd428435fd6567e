// The options of learning from plain text beside pairs, and of several tasks in one model.
#ifndef ATTEND_TRAIN_TASKS_TRANSLATION_DENOISING_CHECKS_H_
#define ATTEND_TRAIN_TASKS_TRANSLATION_DENOISING_CHECKS_H_

#include "train/tasks/translation/translation_train_options.h"

namespace attend {

// Throws Error(kConfiguration) where they contradict each other or others.
void CheckObjective(const TranslationTrainOptions& own);
void CheckPrefixes(const CorpusOptions& corpus);
void CheckMixing(const CorpusOptions& corpus);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_TRANSLATION_DENOISING_CHECKS_H_
