// Whether a line is translated sentence by sentence.
#ifndef ATTEND_TASKS_TRANSLATION_SENTENCE_SPLITTING_H_
#define ATTEND_TASKS_TRANSLATION_SENTENCE_SPLITTING_H_

#include <cstdint>
#include <optional>
#include <string>

#include "base/fields.h"
#include "model/training_text.h"

namespace attend {

enum class SentenceSplitting {
  kAuto,    // as the training text was; sentence by sentence where that is not known
  kAlways,  // sentence by sentence
  kNever,   // line by line
};

// The option `split_sentences`.
FieldList SplittingField(SentenceSplitting* splitting);

// Tokens that an input may have: `asked`, or for 0 as many as training's longest, since a model
// loses the rest of longer ones. 512 where that is not known, or for lines that must not be split.
// `model_takes`: by its positions.
int64_t InputLimit(int64_t asked, SentenceSplitting splitting,
                   const std::optional<TrainingText>& text, int64_t model_takes);
// What the option `max_input_tokens` says of that.
std::string InputLimitHelp();

// Tokens that a line may have to be translated as a whole; 0: sentences are translated alone. Of
// longer lines as many sentences are translated together as fit. `limit` is what an input may have.
int64_t WholeLineTokens(SentenceSplitting splitting, const std::optional<TrainingText>& text,
                        int64_t limit);

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSLATION_SENTENCE_SPLITTING_H_
