#include "engine/tasks/line_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "attend/error.h"
#include "text/lines.h"
#include "text/text_parts.h"

namespace attend {

FieldList Fields(LineOptions& options) {
  FieldList fields;
  fields
      .Add("max_input_tokens", &options.max_input_tokens, 1, 100000,
           "pieces a line may have at most")
      .Add("overlong", &options.overlong, {"split", "refuse"},
           "what to do with longer lines: split them at sentences, or stop");
  return fields;
}

LineBatch::LineBatch(const Translator* translator, const ModelConfig& config,
                     const LineOptions& options)
    : translator_(translator),
      options_(options),
      limit_(std::min(options.max_input_tokens, translator->max_input_tokens())),
      language_(config.languages.empty() ? "" : config.languages[0]) {}

void LineBatch::Refuse(const std::string& name, int64_t pieces) const {
  const bool model_decides = translator_->max_input_tokens() < options_.max_input_tokens;
  throw Error(ErrorKind::kInput,
              fmt::format("{} has {} pieces{}, expected at most {}{}; {}", name, pieces,
                          options_.overlong == Overlong::kSplit ? " in one sentence" : "", limit_,
                          model_decides ? ", the model's learned positions" : "",
                          model_decides ? "shorten it" : "raise max_input_tokens"));
}

std::vector<LineBatch::Part> LineBatch::PartsOf(const std::string& line,
                                                const std::string& name) const {
  const auto fits = [&](std::string_view text) {
    return std::ssize(translator_->Encode(std::string(text))) <= limit_;
  };
  std::vector<Part> parts;
  int64_t word = 0;
  size_t begin = 0;
  for (const TextPart& place : SentenceGroups(line, language_, fits)) {
    word += CountWords(std::string_view(line).substr(begin, place.begin - begin));
    begin = place.begin;
    // A word that the part before has begun.
    if (begin > 0 && line[begin - 1] != ' ' && line[begin - 1] != '\t') --word;
    std::string text = line.substr(begin, place.end - begin);
    std::vector<int32_t> ids = translator_->Encode(text);
    if (std::ssize(ids) > limit_) Refuse(name, std::ssize(ids));
    parts.push_back({std::move(text), std::move(ids), word});
  }
  return parts;
}

void LineBatch::Add(const std::string& line, const std::string& name) {
  std::vector<int32_t> ids = translator_->Encode(line);
  std::vector<Part> parts;
  if (std::ssize(ids) <= limit_) {
    parts.push_back({line, std::move(ids), 0});
  } else if (options_.overlong == Overlong::kRefuse) {
    Refuse(name, std::ssize(ids));
  } else {
    parts = PartsOf(line, name);
  }
  for (Part& part : parts) {
    texts_.push_back(std::move(part.text));
    ids_.push_back(std::move(part.ids));
    first_words_.push_back(part.first_word);
  }
  ends_.push_back(texts_.size());
}

Hypothesis LineBatch::Join(const std::vector<Translation>& translations, size_t begin, size_t end,
                           size_t rank) const {
  Hypothesis whole;
  int64_t words = 0;
  for (size_t i = begin; i < end; ++i) {
    const Hypothesis& next = translations[i].hypotheses[rank];
    if (!whole.text.empty() && !next.text.empty()) whole.text += ' ';
    whole.text += next.text;
    whole.ids.insert(whole.ids.end(), next.ids.begin(), next.ids.end());
    whole.score += next.score;
    whole.log_probability += next.log_probability;
    whole.finished = whole.finished && next.finished;
    for (const AlignmentLink& link : next.alignment) {
      whole.alignment.push_back({link.source + first_words_[i], link.target + words});
    }
    words += CountWords(next.text);
  }
  return whole;
}

std::vector<Translation> LineBatch::Translate(const TranslationOptions& options) const {
  const std::vector<Translation> all = translator_->TranslateEncoded(texts_, ids_, options);
  std::vector<Translation> lines;
  size_t begin = 0;
  for (const size_t end : ends_) {
    Translation& line = lines.emplace_back();
    for (int64_t rank = 0; rank < options.n_best; ++rank) {
      line.hypotheses.push_back(Join(all, begin, end, static_cast<size_t>(rank)));
    }
    begin = end;
  }
  return lines;
}

}  // namespace attend
