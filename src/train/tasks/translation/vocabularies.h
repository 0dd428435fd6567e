// The vocabularies of a run: loaded, taken from a model, or made from the training text and kept in
// the output directory.
#ifndef ATTEND_TRAIN_TASKS_TRANSLATION_VOCABULARIES_H_
#define ATTEND_TRAIN_TASKS_TRANSLATION_VOCABULARIES_H_

#include <filesystem>
#include <memory>
#include <string>

#include "attend/vocabulary.h"
#include "base/log.h"
#include "train/train_options.h"

namespace attend {

// Of one object where both sides share a vocabulary; the target's ids may stand in the opposite
// order.
struct Vocabularies {
  std::shared_ptr<const Vocabulary> source, target;
  bool joint() const { return &source->tokenizer() == &target->tokenizer(); }
};

// By the options: `vocab`, or `source_vocab` and `target_vocab`, or made by `vocab_size` from the
// training text, of which streamed text gives a sample.
Vocabularies MakeVocabularies(const TrainOptions& options, const Log& log);

// DIRECTORY/vocab.spm, or source.spm and target.spm, and not the others; each whole or not at all.
void SaveVocabularies(const Vocabularies& vocabularies, const std::filesystem::path& directory);
// What SaveVocabularies wrote. Throws Error(kInput) where it isn't there.
Vocabularies LoadVocabularies(const std::filesystem::path& directory);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_TRANSLATION_VOCABULARIES_H_
