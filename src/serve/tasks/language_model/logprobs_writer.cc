#include "serve/tasks/language_model/logprobs_writer.h"

#include "tasks/language_model/growing_text.h"
#include "text/utf8.h"

namespace attend {

void LogprobsWriter::Add(const ScoredToken& token) {
  const Continuation continuation(vocabulary_, before_);
  const auto text_of = [&](int32_t id) {
    const std::string text = continuation.Decode({&id, 1});
    return text.empty() ? vocabulary_->Piece(id) : text;
  };
  const std::string text = text_of(token.id);
  tokens_.push_back(text);
  logprobs_.push_back(token.log_probability);
  offsets_.push_back(offset_);
  if (tops_) {
    Json top = Json::object();
    for (const Candidate& best : token.best) top[text_of(best.id)] = best.log_probability;
    top[text] = token.log_probability;
    top_.push_back(std::move(top));
  }
  offset_ += CountCodePoints(text);
  bytes_ += std::ssize(text);
  before_.push_back(token.id);
}

Json LogprobsWriter::Take() {
  const auto take = [](Json* list) { return std::exchange(*list, Json::array()); };
  return {{"tokens", take(&tokens_)},
          {"token_logprobs", take(&logprobs_)},
          {"top_logprobs", tops_ ? take(&top_) : Json()},
          {"text_offset", take(&offsets_)}};
}

Json StreamedLogprobs::Show(const std::string& text, const std::vector<ScoredToken>& tokens) {
  waiting_.insert(waiting_.end(), tokens.begin(), tokens.end());
  shown_ += std::ssize(text);
  while (!waiting_.empty() && writer_.bytes() < shown_) {
    writer_.Add(waiting_.front());
    waiting_.pop_front();
  }
  return writer_.Take();
}

Json StreamedLogprobs::End(bool stopped) {
  if (!stopped) {
    for (const ScoredToken& token : waiting_) writer_.Add(token);
  }
  return writer_.Take();
}

}  // namespace attend
