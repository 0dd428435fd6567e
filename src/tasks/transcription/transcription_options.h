// The one declaration of these options' fields, for command line, TOML and JSON.
#ifndef ATTEND_TASKS_TRANSCRIPTION_TRANSCRIPTION_OPTIONS_H_
#define ATTEND_TASKS_TRANSCRIPTION_TRANSCRIPTION_OPTIONS_H_

#include "attend/translator.h"
#include "base/fields.h"

namespace attend {

FieldList Fields(TranscriptionOptions& options);

// Throws Error(kUsage) for values that do not go together or are out of range.
void CheckTranscriptionOptions(const TranscriptionOptions& options);

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSCRIPTION_TRANSCRIPTION_OPTIONS_H_
