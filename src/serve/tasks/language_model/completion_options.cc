#include "serve/tasks/language_model/completion_options.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "attend/error.h"
#include "serve/json_request.h"
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
  if (!options.is_object()) {
    Refuse(
        fmt::format("stream_options is {}, expected an object such as "
                    "{{\"include_usage\": true}}",
                    KindOf(options)));
  }
  for (const auto& [name, value] : options.items()) {
    if (name != "include_usage" || !value.is_boolean()) {
      Refuse("stream_options takes include_usage, true or false");
    }
    usage = value.get<bool>();
  }
  return usage;
}

std::vector<int32_t> IdsOf(const Json& given) {
  std::vector<int32_t> ids;
  for (const Json& item : given) {
    const double value = item.is_number() ? item.get<double>() : -1;
    if (value < 0 || value > std::numeric_limits<int32_t>::max() || value != std::floor(value)) {
      throw Error(ErrorKind::kInput,
                  fmt::format("request body: prompt holds {} among token ids, expected integers "
                              "from 0 on alone",
                              item.is_number() ? item.dump() : KindOf(item)));
    }
    ids.push_back(static_cast<int32_t>(value));
  }
  return ids;
}

}  // namespace

std::vector<GivenPrompt> TakePrompts(Json* body) {
  std::vector<GivenPrompt> prompts;
  const auto found = body->find("prompt");
  const bool list = found != body->end() && found->is_array() && !found->empty();
  if (!list || !(found->front().is_number() || found->front().is_array())) {
    for (std::string& text : TakeTexts(body, "prompt")) prompts.push_back({std::move(text), {}});
    return prompts;
  }
  const Json given = std::move(*found);
  body->erase("prompt");
  if (!given.front().is_array()) {
    prompts.push_back({"", IdsOf(given)});
    return prompts;
  }
  for (const Json& ids : given) {
    if (!ids.is_array()) {
      throw Error(ErrorKind::kInput,
                  fmt::format("request body: prompt holds {} among lists of token ids, expected "
                              "such lists alone",
                              KindOf(ids)));
    }
    prompts.push_back({"", IdsOf(ids)});
  }
  return prompts;
}

FieldList Fields(CompletionOptions& options) {
  FieldList fields;
  fields.Add("model", &options.model, "name of the model; empty: the only language model")
      .Nest("", Fields(options.generation)
                    .Select({"max_tokens", "min_tokens", "temperature", "top_k", "top_p", "min_p",
                             "repetition_penalty", "n", "seed", "stop", "allow_unknown"}))
      .Add("logprobs", &options.logprobs, -1, kMostLogprobs,
           "give each token's log-probability, and so many likeliest tokens beside it; -1: none; "
           "with stream 0 at most, and without echo")
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
  if (asked.stream && (asked.logprobs > 0 || (asked.logprobs == 0 && asked.echo))) {
    Refuse(
        "with stream logprobs is 0 at most, and without echo; lower it, or leave out stream or "
        "echo");
  }
  CheckGenerationOptions(asked.generation, /*has_beams=*/false);
  return asked;
}

}  // namespace attend
