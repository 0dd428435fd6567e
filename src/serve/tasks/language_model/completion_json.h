// Answers in the shape of the OpenAI API.
#ifndef ATTEND_SERVE_TASKS_LANGUAGE_MODEL_COMPLETION_JSON_H_
#define ATTEND_SERVE_TASKS_LANGUAGE_MODEL_COMPLETION_JSON_H_

#include <cstdint>
#include <string>

#include "base/json.h"
#include "serve/tasks/language_model/served_generator.h"

namespace attend {

// What all events of an answer share with it.
struct CompletionHead {
  std::string id;
  int64_t created = 0;  // seconds since 1970
  std::string model;
};

// A whole answer.
Json CompletionToJson(const CompletionHead& head, const CompletionJob& job);
// An event's: one piece of one output, which `finish_reason` ends where it is not null.
Json PieceToJson(const CompletionHead& head, int64_t index, const std::string& text, Json logprobs,
                 const char* finish_reason = nullptr);
// The event after all others that stream_options ask for.
Json UsageToJson(const CompletionHead& head, const CompletionJob& job);
// For the log-probabilities of an output: from its prompt's beginning where that is echoed.
LogprobsWriter WriterOf(const CompletionJob& job, const JobPrompt& prompt);
const char* FinishReasonOf(const Generation& output);

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_LANGUAGE_MODEL_COMPLETION_JSON_H_
