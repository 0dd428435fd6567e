#include "serve/tasks/language_model/completion_json.h"

#include "tasks/language_model/growing_text.h"
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

// Of an output's tokens, or of its prompt's too. Offsets are characters from the prompt's
// beginning.
class LogprobsWriter {
 public:
  LogprobsWriter(const CompletionJob& job, const JobPrompt& prompt, size_t output)
      : vocabulary_(job.model->vocabulary()), tops_(job.asked.logprobs > 0) {
    const std::vector<ScoredToken>& scored = prompt.scored[output];
    const Generation& generation = prompt.outputs[output];
    const std::string& text = job.texts[prompt.index];
    const size_t echoed = job.asked.echo ? prompt.ids().size() : 0;
    if (!job.asked.echo) before_.assign(prompt.ids().begin(), prompt.ids().end());
    offset_ = job.asked.echo ? 0 : CountCodePoints(text);
    size_t written = 0;  // bytes of the output
    for (size_t t = 0; t < scored.size(); ++t) {
      const bool cut = generation.ending == Ending::kStop && written >= generation.text.size();
      if (t >= echoed && cut) break;  // of the stop text
      const size_t bytes = Add(scored[t]);
      if (t >= echoed) written += bytes;
    }
  }

  Json json() const {
    return {{"tokens", tokens_},
            {"token_logprobs", logprobs_},
            {"top_logprobs", tops_ ? top_ : Json()},
            {"text_offset", offsets_}};
  }

 private:
  // Returns the bytes of its text.
  size_t Add(const ScoredToken& token) {
    const Continuation continuation(&vocabulary_, before_);
    const auto text_of = [&](int32_t id) {
      const std::string text = continuation.Decode({&id, 1});
      return text.empty() ? vocabulary_.Piece(id) : text;
    };
    const std::string text = text_of(token.id);
    tokens_.push_back(text);
    logprobs_.push_back(token.log_probability);
    offsets_.push_back(offset_);
    Json top = Json::object();
    for (const Candidate& best : token.best) top[text_of(best.id)] = best.log_probability;
    top[text] = token.log_probability;
    top_.push_back(std::move(top));
    offset_ += CountCodePoints(text);
    before_.push_back(token.id);
    return text.size();
  }

  const Vocabulary& vocabulary_;
  const bool tops_;
  std::vector<int32_t> before_;
  int64_t offset_ = 0;
  Json tokens_ = Json::array(), logprobs_ = Json::array(), top_ = Json::array(),
       offsets_ = Json::array();
};

}  // namespace

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
      choices.push_back(
          {{"text", before + output.text},
           {"index", choices.size()},
           {"logprobs", job.asked.logprobs < 0 ? Json() : LogprobsWriter(job, prompt, i).json()},
           {"finish_reason", FinishReasonOf(output)}});
    }
  }
  json["usage"] = UsageOf(job);
  return json;
}

Json PieceToJson(const CompletionHead& head, int64_t index, const std::string& text,
                 const char* finish_reason) {
  Json json = HeadToJson(head);
  json["choices"].push_back({{"text", text},
                             {"index", index},
                             {"logprobs", nullptr},
                             {"finish_reason", finish_reason ? Json(finish_reason) : Json()}});
  return json;
}

Json UsageToJson(const CompletionHead& head, const CompletionJob& job) {
  Json json = HeadToJson(head);
  json["usage"] = UsageOf(job);
  return json;
}

}  // namespace attend
