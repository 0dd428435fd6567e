// The JSON of the native API.
#ifndef ATTEND_SERVE_NATIVE_API_H_
#define ATTEND_SERVE_NATIVE_API_H_

#include <string>

#include "base/json.h"
#include "serve/translation_job.h"

namespace attend {

// A sentence of an answer: source, hypotheses, and attention where it was asked for and the source
// has pieces.
Json SentenceToJson(const ServedModel& model, const JobSentence& sentence);
// A whole answer.
Json JobToJson(const TranslationJob& job);

}  // namespace attend

#endif  // ATTEND_SERVE_NATIVE_API_H_
