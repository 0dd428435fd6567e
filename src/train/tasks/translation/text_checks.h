// Warns of text that does not do for training, or for judging it.
#ifndef ATTEND_TRAIN_TASKS_TRANSLATION_TEXT_CHECKS_H_
#define ATTEND_TRAIN_TASKS_TRANSLATION_TEXT_CHECKS_H_

#include "base/json.h"
#include "base/log.h"
#include "train/tasks/translation/vocabularies.h"
#include "train/train_options.h"

namespace attend {

// Throws Error(kInput) where one file is both sides of a translation between two languages.
void CheckSides(const TrainOptions& options);

// Reads all text that a run names, streamed too. Warns of characters without a piece, from 1 in
// 1,000 on, of files with the same text on both sides, and of validation and test pairs in the
// training text. Throws Error(kInput) where half of a side has no pieces. Returns the counts:
// {"train": {"source": {"characters": ..., "unknown": ..., "most_frequent": {...}}, "target": ...},
// "valid": {..., "in_training_text": 3}, "test": ...}.
Json CheckTexts(const TrainOptions& options, const Vocabularies& vocabularies, int threads,
                const Log& log);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_TRANSLATION_TEXT_CHECKS_H_
