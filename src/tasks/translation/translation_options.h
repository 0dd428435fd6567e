// The one declaration of these options' fields, for command line, TOML and JSON.
#ifndef ATTEND_TASKS_TRANSLATION_TRANSLATION_OPTIONS_H_
#define ATTEND_TASKS_TRANSLATION_TRANSLATION_OPTIONS_H_

#include <cstdint>

#include "attend/scorer.h"
#include "attend/translator.h"
#include "base/fields.h"

namespace attend {

constexpr int64_t kMostBeamSize = 64;

FieldList Fields(TranslatorOptions& options);  // those of a model; not what machines differ in
FieldList Fields(TranslationOptions& options);
FieldList Fields(ScoreOptions& options);  // those that text answers

// What every search for texts is told: beam_size, length_penalty and n_best.
FieldList BeamFields(int64_t* beam_size, double* length_penalty, int64_t* n_best);
// Throws Error(kUsage) for more hypotheses than the beam has.
void CheckBeam(int64_t beam_size, int64_t n_best);

// Whether outputs are drawn at random.
bool Draws(const TranslationOptions& options);
// Throws Error(kUsage) where outputs are drawn: they have no given beginning.
void CheckTargetPrefix(const TranslationOptions& options);

// Throws Error(kUsage) for values that do not go together or are out of range.
void CheckTranslationOptions(const TranslationOptions& options);

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSLATION_TRANSLATION_OPTIONS_H_
