// A transcription in JSON, as `attend transcribe` gives it.
#ifndef ATTEND_TASKS_TRANSCRIPTION_TRANSCRIPTION_JSON_H_
#define ATTEND_TASKS_TRANSCRIPTION_TRANSCRIPTION_JSON_H_

#include <string>

#include "attend/translator.h"
#include "base/json.h"

namespace attend {

// Of the file `path`.
Json TranscriptionToJson(const std::string& path, const Transcription& found);

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSCRIPTION_TRANSCRIPTION_JSON_H_
