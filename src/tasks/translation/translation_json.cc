#include "tasks/translation/translation_json.h"

#include <utility>

namespace attend {

Json HypothesisToJson(const Hypothesis& hypothesis, const TranslationOptions& options) {
  Json json;
  json["text"] = hypothesis.text;
  json["score"] = hypothesis.score;
  json["log_probability"] = hypothesis.log_probability;
  json["finished"] = hypothesis.finished;
  json["protected_spans"] = hypothesis.protected_spans;
  json["protected_kept"] = hypothesis.protected_kept;
  json["terms"] = hypothesis.terms;
  json["terms_kept"] = hypothesis.terms_kept;
  if (options.alignments) {
    Json links = Json::array();
    for (const AlignmentLink& link : hypothesis.alignment)
      links.push_back({link.source, link.target});
    json["alignment"] = std::move(links);
  }
  if (options.quality) {
    json["quality"] = hypothesis.quality;
    json["word_quality"] = hypothesis.word_quality;
    json["doubtful_words"] = hypothesis.DoubtfulWords();
  }
  return json;
}

Json TranslationToJson(const Translation& translation, const TranslationOptions& options) {
  Json hypotheses = Json::array();
  for (const Hypothesis& hypothesis : translation.hypotheses)
    hypotheses.push_back(HypothesisToJson(hypothesis, options));
  Json json;
  json["hypotheses"] = std::move(hypotheses);
  json["divided"] = translation.divided;
  json["unknown_characters"] = translation.unknown_characters.size();
  return json;
}

}  // namespace attend
