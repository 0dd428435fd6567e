// What one request for completions can ask for.
#ifndef ATTEND_SERVE_TASKS_LANGUAGE_MODEL_COMPLETION_OPTIONS_H_
#define ATTEND_SERVE_TASKS_LANGUAGE_MODEL_COMPLETION_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attend/generator.h"
#include "base/fields.h"
#include "base/json.h"
#include "serve/request_queue.h"

namespace attend {

// What POST /v1/completions takes beside its prompts.
struct CompletionOptions {
  std::string model;
  GenerationOptions generation;
  int64_t logprobs = -1;
  bool echo = false, stream = false;
  QueueOptions queue;

  bool no_output = false;  // max_tokens is 0: the prompt alone is wanted
  bool usage_event = false;
};
FieldList Fields(CompletionOptions& options);

struct GivenPrompt {
  std::string text;
  std::optional<std::vector<int32_t>> ids;  // in place of the text
};

// Removes `prompt`: a text or its token ids, or a list of such. Throws Error(kInput) for anything
// else, as TakeTexts does.
std::vector<GivenPrompt> TakePrompts(Json* body);

// Of a request's members but for the prompt. Takes what the OpenAI API has and attend has not where
// it asks for nothing. Throws Error(kUsage) for options that do not go together.
CompletionOptions ReadCompletionOptions(Json body);

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_LANGUAGE_MODEL_COMPLETION_OPTIONS_H_
