#include "serve/tasks/translation/alternatives_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "attend/error.h"
#include "serve/json_request.h"
#include "serve/tasks/translation/model_choice.h"
#include "tasks/translation/alternatives.h"
#include "tasks/translation/translation_json.h"

namespace attend {
namespace {

// One text, not a list.
std::string TakeText(Json* body, const std::string& name) {
  std::vector<std::string> texts = TakeTexts(body, name);
  if (texts.size() != 1) {
    throw Error(ErrorKind::kInput,
                fmt::format("request body: {} holds {} texts, expected one", name, texts.size()));
  }
  return std::move(texts[0]);
}

Json AlternativesToJson(const ServedTranslator& model, const Translation& found,
                        const TranslationOptions& options) {
  Json alternatives = Json::array();
  for (const Hypothesis& hypothesis : found.hypotheses)
    alternatives.push_back(HypothesisToJson(hypothesis, options));
  Json json;
  json["model"] = model.name();
  json["alternatives"] = std::move(alternatives);
  return json;
}

}  // namespace

struct AlternativesApi::Asked {
  RequestOptions options;
  ModelChoice choice;
  std::string text, prefix;
  int64_t count = 0;
};

FieldList Fields(AlternativesRequest& request) {
  FieldList fields;
  fields
      .Nest("", Fields(request.options)
                    .Select({"model", "source", "target", "beam_size", "length_penalty",
                             "no_repeat_ngram", "repetition_penalty", "coverage_penalty",
                             "beam_threshold", "early_exit", "max_length", "min_length",
                             "allow_unknown", "alignments", "alignment_layer", "quality", "protect",
                             "priority", "deadline_ms"}))
      .Add("count", &request.count, 1, 64, "maximum number of alternatives");
  return fields;
}

std::vector<Route> AlternativesApi::Routes() const {
  return {{kAlternativesRoute, "POST", [this](const ExchangePtr& exchange) { Find(exchange); },
           Effort::kModel}};
}

void AlternativesApi::Find(const ExchangePtr& exchange) const {
  Json body = ReadJsonRequest(exchange.get());
  const auto asked = std::make_shared<Asked>();
  asked->text = TakeText(&body, "text");
  if (body.contains("target_prefix")) asked->prefix = TakeText(&body, "target_prefix");
  CheckCharacters({asked->text, asked->prefix}, context_.options);
  AlternativesRequest request{.options = UsualRequest(context_.options)};
  RequestOptions& options = request.options;
  // What the server has for whole outputs has no place where outputs have a beginning.
  const TranslationOptions plain;
  options.translation.sample = plain.sample;
  options.translation.mbr = plain.mbr;
  options.translation.temperature = plain.temperature;
  options.translation.top_k = plain.top_k;
  options.translation.top_p = plain.top_p;
  options.translation.beam_groups = plain.beam_groups;
  options.translation.quality = plain.quality;
  options.translation.glossary = glossaries_.Take(&body);
  request.count = std::min(request.count, context_.options.max_beam_size);
  FieldsFromJson(body, Fields(request), "request body");
  options.translation.n_best = 1;
  options.translation.scores = true;
  CheckLimits(options, context_.options);
  if (request.count > context_.options.max_beam_size) {
    throw Error(ErrorKind::kUsage, fmt::format("count is {}, expected at most {} here",
                                               request.count, context_.options.max_beam_size));
  }
  context_.router.SetLimit(exchange, options.queue.deadline_ms);
  asked->count = request.count;
  asked->choice = ChooseModels(context_.models, options, {asked->text}, exchange->request().path);
  requests_.CheckRoom(asked->choice);
  options.beginnings = {.texts = {asked->prefix}, .next_words = asked->count};
  asked->options = options;
  // Of what is answered.
  options.translation.alignments = false;
  options.translation.quality = false;
  const auto job =
      requests_.JobFor(*exchange, asked->choice, asked->choice.of_text, {asked->text}, options);
  requests_.Run(exchange, job, [this, exchange, asked](const TranslationJob& done) {
    FindRests(exchange, asked, done.jobs[0].sentences[0]);
  });
}

void AlternativesApi::FindRests(const ExchangePtr& exchange, const std::shared_ptr<Asked>& asked,
                                const JobSentence& next) const {
  const auto model = asked->choice.models[0];
  if (next.result.translation.hypotheses[0].ids.empty() && next.prefix.empty()) {
    // There is nothing to translate: a copy.
    return exchange->Answer({200, Dump(AlternativesToJson(*model, next.result.translation, {}))});
  }
  RequestOptions options = asked->options;
  options.beginnings = {.ids = model->translator().LongerPrefixes(next, next.result)};
  const size_t ways = options.beginnings.ids.size();
  const auto job = requests_.JobFor(*exchange, asked->choice, std::vector<size_t>(ways, 0),
                                    std::vector<std::string>(ways, asked->text), options);
  requests_.Run(exchange, job, [exchange, asked, model](const TranslationJob& done) {
    std::vector<Translation> found;
    for (const JobSentence& sentence : done.jobs[0].sentences)
      found.push_back(sentence.result.translation);
    const Translation best = BestByNextWord(std::move(found), asked->prefix, asked->count);
    exchange->Answer({200, Dump(AlternativesToJson(*model, best, asked->options.translation))});
  });
}

}  // namespace attend
