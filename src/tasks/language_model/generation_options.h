// The one declaration of these options' fields, for command line, TOML and JSON.
#ifndef ATTEND_TASKS_LANGUAGE_MODEL_GENERATION_OPTIONS_H_
#define ATTEND_TASKS_LANGUAGE_MODEL_GENERATION_OPTIONS_H_

#include "attend/generator.h"
#include "base/fields.h"

namespace attend {

constexpr int64_t kMostOutputs = 64;  // of a prompt

FieldList Fields(GeneratorOptions& options);  // those of a model; not what machines differ in
FieldList Fields(GenerationOptions& options);
FieldList Fields(TextScoreOptions& options);

// As JSON and Python have it.
const char* NameOf(Ending ending);

// Throw Error(kUsage) for values that do not go together or are out of range.
void CheckGenerationOptions(const GenerationOptions& options, bool has_beams = true);
void CheckTextScoreOptions(const TextScoreOptions& options);

}  // namespace attend

#endif  // ATTEND_TASKS_LANGUAGE_MODEL_GENERATION_OPTIONS_H_
