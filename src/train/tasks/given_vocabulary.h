// What is said of a vocabulary that is given must be true of it. No Torch here.
#ifndef ATTEND_TRAIN_TASKS_GIVEN_VOCABULARY_H_
#define ATTEND_TRAIN_TASKS_GIVEN_VOCABULARY_H_

#include <string>

#include "attend/vocabulary.h"
#include "text/vocabulary_trainer.h"
#include "train/run_settings.h"
#include "train/train_options.h"

namespace attend {

// Throws Error(kConfiguration) where an option is given that only changes how a vocabulary is made.
// `giver`: the option that gives one.
void CheckMakingOptions(TrainOptions options, const RunSettings& settings,
                        const std::string& giver);

// Throws Error(kConfiguration) for another size or type than is said.
void CheckGivenVocabulary(const Vocabulary& vocabulary, const VocabularyOptions& said,
                          const RunSettings& settings);

// Throws Error(kConfiguration) where another `case` is given than the vocabulary has.
void CheckGivenCase(const Vocabulary& vocabulary, LetterCase said, const RunSettings& settings);

// As the option has it: "factor".
std::string CaseText(LetterCase letter_case);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_GIVEN_VOCABULARY_H_
