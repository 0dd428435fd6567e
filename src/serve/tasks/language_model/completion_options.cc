#include "serve/tasks/language_model/completion_options.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>
#include <vector>

#include "attend/error.h"
#include "tasks/language_model/generation_options.h"

namespace attend {
namespace {

constexpr int64_t kMostLogprobs = 5;  // the OpenAI API's

void Refuse(const std::string& message) { throw Error(ErrorKind::kUsage, message); }

// Members of the OpenAI API that attend has not, and the value that asks for nothing.
void DropForeign(Json* body) {
  const Json n = body->value("n", Json(1));
  const std::vector<std::pair<const char*, Json>> neutral = {
      {"presence_penalty", 0},
      {"frequency_penalty", 0},
      {"logit_bias", Json::object()},
      {"suffix", ""},
      {"best_of", n.is_null() ? Json(1) : n}};
  for (const auto& [name, value] : neutral) {
    const auto found = body->find(name);
    if (found == body->end()) continue;
    if (*found != value) Refuse(fmt::format("{} is not supported; leave it out", name));
    body->erase(name);
  }
  body->erase("user");
}

// Of stream_options.
bool TakeUsageEvent(Json* body) {
  const auto found = body->find("stream_options");
  if (found == body->end()) return false;
  const Json options = std::move(*found);
  body->erase("stream_options");
  bool usage = false;
  if (!options.is_object()) Refuse("stream_options is no object");
  for (const auto& [name, value] : options.items()) {
    if (name != "include_usage" || !value.is_boolean()) {
      Refuse("stream_options takes include_usage, true or false");
    }
    usage = value.get<bool>();
  }
  return usage;
}

}  // namespace

FieldList Fields(CompletionOptions& options) {
  FieldList fields;
  fields.Add("model", &options.model, "name of the model; empty: the only language model")
      .Nest("", Fields(options.generation)
                    .Select({"max_tokens", "min_tokens", "temperature", "top_k", "top_p", "min_p",
                             "repetition_penalty", "n", "seed", "stop", "allow_unknown"}))
      .Add("logprobs", &options.logprobs, -1, kMostLogprobs,
           "give each token's log-probability, and so many likeliest tokens beside it; -1: none; "
           "not with stream")
      .Add("echo", &options.echo, "begin each text with its prompt")
      .Add("stream", &options.stream, "answer with events, as the text comes")
      .Nest("", Fields(options.queue));
  return fields;
}

CompletionOptions ReadCompletionOptions(Json body) {
  for (auto member = body.begin(); member != body.end();) {
    member = member->is_null() ? body.erase(member) : std::next(member);
  }
  CompletionOptions asked;
  DropForeign(&body);
  asked.usage_event = TakeUsageEvent(&body);
  asked.no_output = body.value("max_tokens", Json()) == 0;
  if (asked.no_output) body["max_tokens"] = 1;
  FieldsFromJson(body, Fields(asked), "request body");
  if (asked.no_output && !asked.echo) Refuse("max_tokens is 0, which is for echo alone");
  if (asked.no_output) asked.generation.min_tokens = 0;
  if (asked.usage_event && !asked.stream) Refuse("stream_options are given, but stream is false");
  if (asked.stream && asked.logprobs >= 0) Refuse("logprobs is not for stream; leave one out");
  CheckGenerationOptions(asked.generation);
  return asked;
}

}  // namespace attend
