// Translations as JSON, for the program and the service.
#ifndef ATTEND_TASKS_TRANSLATION_TRANSLATION_JSON_H_
#define ATTEND_TASKS_TRANSLATION_TRANSLATION_JSON_H_

#include "attend/translator.h"
#include "base/json.h"

namespace attend {

// With `alignment`, and `quality`, `word_quality` and `doubtful_words`, where the options ask.
Json HypothesisToJson(const Hypothesis& hypothesis, const TranslationOptions& options);
// Of a whole line.
Json TranslationToJson(const Translation& translation, const TranslationOptions& options);

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSLATION_TRANSLATION_JSON_H_
