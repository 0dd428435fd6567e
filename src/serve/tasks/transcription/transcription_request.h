// What a request for a transcription says, and the answer in the format that it asks for.
#ifndef ATTEND_SERVE_TASKS_TRANSCRIPTION_TRANSCRIPTION_REQUEST_H_
#define ATTEND_SERVE_TASKS_TRANSCRIPTION_TRANSCRIPTION_REQUEST_H_

#include <string>
#include <vector>

#include "attend/translator.h"
#include "base/fields.h"
#include "base/json.h"
#include "serve/http_message.h"
#include "serve/request_queue.h"

namespace attend {

enum class TranscriptFormat { kJson, kText, kSrt, kVerboseJson, kVtt };

struct TranscriptionRequest {
  std::string model;  // its name; empty: the only one that answers at the route
  std::string file, file_name;
  TranscriptFormat format = TranscriptFormat::kJson;
  std::string language;                  // empty: the model's
  double temperature = 0;                // of drawn outputs; the search draws none
  bool words = false, segments = false;  // what verbose_json has
  bool attention = false;                // of words, in verbose_json
  // What clients may send that changes nothing: these alone.
  std::string prompt;
  bool stream = false;
  QueueOptions queue;

  // Subtitles of long segments are divided between words.
  bool NeedsWordTimes() const {
    return words || attention || format == TranscriptFormat::kSrt ||
           format == TranscriptFormat::kVtt;
  }
};

// Members of the form beside `file` and `timestamp_granularities[]`.
FieldList Fields(TranscriptionRequest& request);

// Takes the body. Throws Refusal 415 for a body of another type than multipart/form-data,
// Error(kInput) or Error(kConfiguration) for a member that is missing, not known, given twice or of
// a wrong value.
TranscriptionRequest ReadTranscriptionRequest(Exchange* exchange);

// `language`: the model's, or ""; `attention`: of RecordingAttentionToJson, or null.
HttpResponse TranscriptionResponse(const TranscriptionRequest& asked, const Transcription& found,
                                   const std::string& language, Json attention);

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSCRIPTION_TRANSCRIPTION_REQUEST_H_
