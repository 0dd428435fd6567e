#include "serve/tasks/language_model/completion_json.h"

#include <utility>

#include "text/utf8.h"

namespace attend {
namespace {

Json HeadToJson(const CompletionHead& head) {
  return {{"id", head.id},
          {"object", "text_completion"},
          {"created", head.created},
          {"model", head.model},
          {"choices", Json::array()}};
}

Json UsageOf(const CompletionJob& job) {
  const int64_t read = job.PromptTokens(), written = job.OutputTokens();
  return {
      {"prompt_tokens", read}, {"completion_tokens", written}, {"total_tokens", read + written}};
}

// Of an output's tokens, and of its prompt's where that is echoed.
Json LogprobsOf(const CompletionJob& job, const JobPrompt& prompt, size_t output) {
  const Generation& generation = prompt.outputs[output];
  const size_t echoed = job.asked.echo ? prompt.ids().size() : 0;
  LogprobsWriter writer = WriterOf(job, prompt);
  int64_t before = 0;  // bytes of the prompt
  const std::vector<ScoredToken>& scored = prompt.scored[output];
  for (size_t t = 0; t < scored.size(); ++t) {
    if (t == echoed) before = writer.bytes();
    const bool stopped = generation.ending == Ending::kStop;
    if (t >= echoed && stopped && writer.bytes() - before >= std::ssize(generation.text)) break;
    writer.Add(scored[t]);
  }
  return writer.Take();
}

}  // namespace

LogprobsWriter WriterOf(const CompletionJob& job, const JobPrompt& prompt) {
  const bool echo = job.asked.echo;
  const auto ids = prompt.ids();
  return {&job.model->vocabulary(),
          echo ? std::vector<int32_t>() : std::vector<int32_t>(ids.begin(), ids.end()),
          echo ? 0 : CountCodePoints(job.texts[prompt.index]), job.asked.logprobs > 0};
}

const char* FinishReasonOf(const Generation& output) {
  return output.ending == Ending::kLength ? "length" : "stop";
}

Json CompletionToJson(const CompletionHead& head, const CompletionJob& job) {
  Json json = HeadToJson(head);
  Json& choices = json["choices"];
  for (const JobPrompt& prompt : job.prompts) {
    const std::string before = job.asked.echo ? job.texts[prompt.index] : "";
    for (size_t i = 0; i < prompt.outputs.size(); ++i) {
      const Generation& output = prompt.outputs[i];
      choices.push_back({{"text", before + output.text},
                         {"index", choices.size()},
                         {"logprobs", job.asked.logprobs < 0 ? Json() : LogprobsOf(job, prompt, i)},
                         {"finish_reason", FinishReasonOf(output)}});
    }
  }
  json["usage"] = UsageOf(job);
  return json;
}

Json PieceToJson(const CompletionHead& head, int64_t index, const std::string& text, Json logprobs,
                 const char* finish_reason) {
  Json json = HeadToJson(head);
  json["choices"].push_back({{"text", text},
                             {"index", index},
                             {"logprobs", std::move(logprobs)},
                             {"finish_reason", finish_reason ? Json(finish_reason) : Json()}});
  return json;
}

Json UsageToJson(const CompletionHead& head, const CompletionJob& job) {
  Json json = HeadToJson(head);
  json["usage"] = UsageOf(job);
  return json;
}

}  // namespace attend
