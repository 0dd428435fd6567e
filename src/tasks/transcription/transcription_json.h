// A transcription in JSON, as `attend transcribe` gives it.
#ifndef ATTEND_TASKS_TRANSCRIPTION_TRANSCRIPTION_JSON_H_
#define ATTEND_TASKS_TRANSCRIPTION_TRANSCRIPTION_JSON_H_

#include <span>
#include <string>

#include "attend/translator.h"
#include "base/json.h"

namespace attend {

double InMilliseconds(double seconds);  // rounded to them

// [{"text", "begin", "end"}]
Json WordsToJson(std::span<const TimedWord> words);

// Of the file `path`.
Json TranscriptionToJson(const std::string& path, const Transcription& found);

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSCRIPTION_TRANSCRIPTION_JSON_H_
