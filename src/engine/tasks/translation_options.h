// The one declaration of TranslationOptions' fields, for command line, TOML and JSON.
#ifndef ATTEND_ENGINE_TASKS_TRANSLATION_OPTIONS_H_
#define ATTEND_ENGINE_TASKS_TRANSLATION_OPTIONS_H_

#include "attend/translator.h"
#include "base/fields.h"

namespace attend {

FieldList Fields(TranslationOptions& options);

// Throws Error(kUsage) for values that do not go together or are out of range.
void CheckTranslationOptions(const TranslationOptions& options);

}  // namespace attend

#endif  // ATTEND_ENGINE_TASKS_TRANSLATION_OPTIONS_H_
