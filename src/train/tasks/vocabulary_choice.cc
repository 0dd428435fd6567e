#include "train/tasks/vocabulary_choice.h"

#include <fmt/format.h>

#include "attend/error.h"
#include "train/train_options.h"

namespace attend {

FieldList VocabularyChoice::FieldsFor(const TrainOptions& options) {
  FieldList fields;
  fields.Group("Vocabulary")
      .Add("vocab", &vocab, "vocabulary file: a SentencePiece model or a tokenizer.json", kPath)
      .Nest("", Fields(made, "vocab_"), kIdentity);
  if (!Makes(options)) fields.Mark(kMaking, kNotRecorded);
  return fields;
}

void VocabularyChoice::Check(const TrainOptions& options) const {
  const auto refuse = [](const char* message) { throw Error(ErrorKind::kConfiguration, message); };
  if (!options.init.empty() && !vocab.empty())
    refuse("vocab and init are both given, expected one vocabulary");
  if (Makes(options) && made.size == 0)
    refuse("no vocabulary: give vocab, or vocab_size to make one, or init");
}

bool VocabularyChoice::Makes(const TrainOptions& options) const {
  return options.init.empty() && vocab.empty();
}

}  // namespace attend
