#include "serve/tasks/translation/native_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attend/error.h"
#include "memory/match_json.h"
#include "serve/json_request.h"
#include "serve/tasks/translation/model_choice.h"
#include "tasks/attention_labels.h"
#include "tasks/translation/translation_json.h"
#include "tasks/translation/translation_options.h"

namespace attend {
namespace {

AttentionLabels PiecesOf(const ServedTranslator& model, const JobSentence& sentence, size_t rank) {
  const std::span<const int32_t> ids = sentence.result.translation.hypotheses[rank].ids;
  // Learned positions may cut the rest.
  const size_t forced = sentence.result.attention[rank].token_log_probabilities.size() - 1;
  return LabelsOf(model.config(), {model.translator().source(), sentence.ids},
                  {model.translator().target(), ids.first(forced)});
}

// What older clients say of splitting.
void ReadOldSplitting(Json* body) {
  const auto found = body->find("split_sentences");
  if (found != body->end() && found->is_boolean()) *found = *found == true ? "always" : "never";
}

// All but its sentences.
Json TextToJson(const TranslationJob::Text& text) {
  Json one;
  one["model"] = text.job->model->name();
  one["text"] = text.Join(0);
  one["finished"] = text.Finished();
  one["divided"] = text.divided > 0;
  one["unknown_characters"] = text.UnknownCharacters();
  if (const auto quality = text.Quality()) one["quality"] = *quality;
  return one;
}

// Beginnings of outputs: of each text one, or one of all.
std::vector<std::string> TakeTargetPrefixes(Json* body, size_t texts) {
  if (!body->contains("target_prefix")) return {};
  const bool one = (*body)["target_prefix"].is_string();
  std::vector<std::string> prefixes = TakeTexts(body, "target_prefix");
  if (one && prefixes[0].empty()) return {};
  if (one || prefixes.size() == texts) return prefixes;
  throw Error(ErrorKind::kInput,
              fmt::format("request body: target_prefix holds {} texts and text {}; expected as "
                          "many, or a text",
                          prefixes.size(), texts));
}

std::string SentenceEvent(const TranslationJob& job, const JobSentence& sentence) {
  const auto& sentences = static_cast<const SentenceJob*>(sentence.job)->sentences;
  const size_t index = &sentence - sentences.data();
  const auto text = std::ranges::find_if(job.texts, [&](const TranslationJob::Text& each) {
    return each.job == sentence.job && each.first <= index &&
           index < each.first + each.parts.size();
  });
  Json event = SentenceToJson(*text->job->model, sentence);
  event["text_index"] = text - job.texts.begin();
  event["sentence_index"] = index - text->first;
  return ToEvent("sentence", Dump(event));
}

std::string DoneEvent(const TranslationJob& job) {
  Json translations = Json::array();
  for (const TranslationJob::Text& text : job.texts) {
    translations.push_back(TextToJson(text));
  }
  Json done;
  done["translations"] = std::move(translations);
  return ToEvent("done", Dump(done));
}

}  // namespace

Json SentenceToJson(const ServedTranslator& model, const JobSentence& sentence) {
  const std::vector<PairScore>& attention = sentence.result.attention;
  Json hypotheses = Json::array();
  for (const Hypothesis& hypothesis : sentence.result.translation.hypotheses) {
    const size_t rank = hypotheses.size();
    Json one = HypothesisToJson(hypothesis, sentence.options);
    if (!attention.empty()) {
      one["attention"] = {{"target_pieces", PiecesOf(model, sentence, rank).read},
                          {"decoder_self", attention[rank].decoder_self},
                          {"cross", attention[rank].cross}};
    }
    hypotheses.push_back(std::move(one));
  }
  Json json;
  json["source"] = SourceOf(sentence);
  json["unknown_characters"] = sentence.result.translation.unknown_characters.size();
  json["hypotheses"] = std::move(hypotheses);
  if (sentence.with_memory) json["matches"] = MatchesToJson(sentence.matches);
  if (!attention.empty()) {
    json["attention"] = {{"source_pieces", PiecesOf(model, sentence, 0).source},
                         {"encoder_self", attention[0].encoder_self}};
  }
  return json;
}

Json JobToJson(const TranslationJob& job) {
  Json translations = Json::array();
  for (const TranslationJob::Text& text : job.texts) {
    Json sentences = Json::array();
    for (const JobSentence& sentence : text.Sentences()) {
      sentences.push_back(SentenceToJson(*text.job->model, sentence));
    }
    Json one = TextToJson(text);
    one["sentences"] = std::move(sentences);
    translations.push_back(std::move(one));
  }
  Json json;
  json["model"] = job.jobs.front().model->name();
  json["translations"] = std::move(translations);
  return json;
}

std::vector<Route> NativeApi::Routes() const {
  return {{kTranslateRoute, "POST", [this](const ExchangePtr& exchange) { Translate(exchange); },
           Effort::kModel},
          {kMemoriesRoute, "GET, HEAD",
           [this](const ExchangePtr& exchange) { exchange->Answer(memories_.List()); }}};
}

void NativeApi::Translate(const ExchangePtr& exchange) const {
  Json body = ReadJsonRequest(exchange.get());
  std::vector<std::string> texts = TakeTexts(&body, "text");
  RequestOptions asked = UsualRequest(context_.options);
  asked.beginnings.texts = TakeTargetPrefixes(&body, texts.size());
  CheckCharacters(texts, context_.options, asked.beginnings.texts);
  // What the server gives who names nothing.
  if (body.value("attention", Json()) == true) LimitToAttention(&asked.translation);
  ReadOldSplitting(&body);
  asked.translation.glossary = glossaries_.Take(&body);
  FieldsFromJson(body, Fields(asked), "request body");
  CheckLimits(asked, context_.options);
  if (!asked.beginnings.texts.empty()) CheckTargetPrefix(asked.translation);
  if (!asked.memory.empty()) asked.loaded_memory = memories_.Find(asked.memory);
  context_.router.SetLimit(exchange, asked.queue.deadline_ms);
  const ModelChoice choice = ChooseModels(context_.models, asked, texts, exchange->request().path);
  requests_.CheckRoom(choice);
  const auto reserved = asked.attention ? requests_.ReserveAttention() : nullptr;
  const auto job = requests_.JobFor(*exchange, choice, choice.of_text, std::move(texts), asked);
  job->reserved = reserved;
  if (reserved != nullptr) exchange->Hold(reserved);
  if (asked.stream) return Stream(exchange, job);
  requests_.Run(exchange, job, [exchange](const TranslationJob& done) {
    exchange->Answer({200, Dump(JobToJson(done))});
  });
}

void NativeApi::Stream(const ExchangePtr& exchange,
                       const std::shared_ptr<TranslationJob>& job) const {
  for (ModelJob& part : job->jobs) {
    part.on_sentence = [this, exchange, weak = std::weak_ptr(job)](const JobSentence& sentence) {
      requests_.Continue(exchange, weak.lock(),
                         [exchange, &sentence](const TranslationJob& running) {
                           exchange->SendEvent(SentenceEvent(running, sentence));
                         });
    };
  }
  requests_.Run(exchange, job, [exchange](const TranslationJob& done) {
    exchange->SendEvent(DoneEvent(done));
    exchange->EndEvents();
  });
}

}  // namespace attend
