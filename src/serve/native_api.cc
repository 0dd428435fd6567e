#include "serve/native_api.h"

#include <fmt/format.h>

#include "attend/error.h"
#include "engine/tasks/attention_labels.h"
#include "engine/tasks/translation_options.h"
#include "serve/file_check.h"
#include "serve/model_choice.h"
#include "serve/request_body.h"
#include "serve/service.h"

namespace attend {
namespace {

AttentionLabels PiecesOf(const ServedModel& model, const JobSentence& sentence, size_t rank) {
  const std::span<const int32_t> ids = sentence.result.translation.hypotheses[rank].ids;
  // Learned positions may cut the rest.
  const size_t forced = sentence.result.attention[rank].decoder_self[0][0].size() - 1;
  return LabelsOf({model.translator().source(), sentence.ids},
                  {model.translator().target(), ids.first(forced)});
}

std::vector<std::string> TextsOf(const Json& text) {
  std::vector<std::string> texts;
  if (text.is_string()) return {text.get<std::string>()};
  for (const Json& item : text.is_array() ? text : Json::array({Json()})) {
    if (!item.is_string()) {
      throw Error(ErrorKind::kInput, "request body: text is no text, expected one or a list");
    }
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

// What older clients say of splitting.
void ReadOldSplitting(Json* body) {
  const auto found = body->find("split_sentences");
  if (found != body->end() && found->is_boolean()) *found = *found == true ? "always" : "never";
}

void CheckLimits(RequestOptions asked, const ServeOptions& options) {
  CheckTranslationOptions(asked.translation);
  if (asked.translation.beam_size > options.max_beam_size) {
    throw Error(ErrorKind::kUsage, fmt::format("beam_size is {}, expected at most {} here",
                                               asked.translation.beam_size, options.max_beam_size));
  }
  if (asked.protect && !options.translator.protect) {
    throw Error(ErrorKind::kUsage, "protect is true, but this server runs with --protect=false");
  }
  if (!asked.attention) return;
  RequestOptions most = asked;
  LimitToAttention(&most.translation);
  const FieldList wanted = Fields(asked), limits = Fields(most);
  for (const char* name : {"n_best", "max_length", "min_length"}) {
    const std::string value = wanted.Find(name)->ValueText(),
                      limit = limits.Find(name)->ValueText();
    if (value == limit) continue;
    throw Error(ErrorKind::kUsage,
                fmt::format("{} is {}, expected at most {} with attention", name, value, limit));
  }
}

// All but its sentences.
Json TextToJson(const TranslationJob& job, const TranslationJob::Text& text) {
  Json one;
  one["text"] = job.Join(text, 0);
  one["finished"] = job.Finished(text);
  one["divided"] = text.divided > 0;
  one["unknown_characters"] = job.UnknownCharacters(text);
  return one;
}

std::string SentenceEvent(const TranslationJob& job, const JobSentence& sentence) {
  const size_t index = &sentence - job.sentences.data();
  size_t text = job.texts.size() - 1;
  while (job.texts[text].first > index || job.texts[text].parts.empty()) --text;
  Json event = SentenceToJson(*job.model, sentence);
  event["text_index"] = text;
  event["sentence_index"] = index - job.texts[text].first;
  return ToEvent("sentence", Dump(event));
}

std::string DoneEvent(const TranslationJob& job) {
  Json translations = Json::array();
  for (const TranslationJob::Text& text : job.texts) {
    translations.push_back(TextToJson(job, text));
  }
  Json done;
  done["translations"] = std::move(translations);
  return ToEvent("done", Dump(done));
}

}  // namespace

Json SentenceToJson(const ServedModel& model, const JobSentence& sentence) {
  const std::vector<PairScore>& attention = sentence.result.attention;
  Json hypotheses = Json::array();
  for (const Hypothesis& hypothesis : sentence.result.translation.hypotheses) {
    const size_t rank = hypotheses.size();
    Json one;
    one["text"] = hypothesis.text;
    one["score"] = hypothesis.score;
    one["log_probability"] = hypothesis.log_probability;
    one["finished"] = hypothesis.finished;
    one["protected_spans"] = hypothesis.protected_spans;
    one["protected_kept"] = hypothesis.protected_kept;
    if (sentence.options.alignments) {
      Json links = Json::array();
      for (const AlignmentLink& link : hypothesis.alignment) {
        links.push_back({link.source, link.target});
      }
      one["alignment"] = std::move(links);
    }
    if (!attention.empty()) {
      one["attention"] = {{"target_pieces", PiecesOf(model, sentence, rank).read},
                          {"decoder_self", attention[rank].decoder_self},
                          {"cross", attention[rank].cross}};
    }
    hypotheses.push_back(std::move(one));
  }
  Json json;
  json["source"] = sentence.text;
  json["unknown_characters"] = sentence.result.translation.unknown_characters.size();
  json["hypotheses"] = std::move(hypotheses);
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
    for (const JobSentence& sentence : job.SentencesOf(text)) {
      sentences.push_back(SentenceToJson(*job.model, sentence));
    }
    Json one = TextToJson(job, text);
    one["sentences"] = std::move(sentences);
    translations.push_back(std::move(one));
  }
  Json json;
  json["model"] = job.model->name();
  json["translations"] = std::move(translations);
  return json;
}

void Service::CheckFile(const ExchangePtr& exchange) const {
  CheckFileFormat(ReadBody(exchange).File("file"));
  exchange->Answer({200, Dump(Json::object())});
}

void Service::Models(const ExchangePtr& exchange) const {
  Json models = Json::array();
  for (const auto& model : models_->models()) {
    Json one;
    one["name"] = model->name();
    one["source"] = model->source();
    one["target"] = model->target();
    const ModelConfig& config = model->config();
    one["encoder_layers"] = config.encoder ? config.encoder->layers : 0;
    one["encoder_heads"] = config.encoder ? config.encoder->heads : 0;
    one["decoder_layers"] = config.decoder->layers;
    one["decoder_heads"] = config.decoder->heads;
    one["beam_size"] = options_.translation.beam_size;
    models.push_back(std::move(one));
  }
  Json json;
  json["models"] = std::move(models);
  exchange->Answer({200, Dump(json)});
}

void Service::TranslateNative(const ExchangePtr& exchange) const {
  const HttpRequest& request = exchange->request();
  if (MediaTypeOf(request) != "application/json") {
    throw Refusal(415, "expected Content-Type: application/json");
  }
  if (!request.query.empty()) {
    throw Error(ErrorKind::kInput, "request: /v1/translate takes no query; send all in the body");
  }
  Json body = ParseJson(request.body, "request body");
  if (!body.is_object() || !body.contains("text")) {
    throw Error(ErrorKind::kInput, "request body: expected an object with text");
  }
  std::vector<std::string> texts = TextsOf(body["text"]);
  body.erase("text");
  CheckCharacters(texts, options_);
  RequestOptions asked;
  asked.translation = options_.translation;
  asked.protect = options_.translator.protect;
  // What the server gives who names nothing.
  if (body.value("attention", Json()) == true) LimitToAttention(&asked.translation);
  ReadOldSplitting(&body);
  FieldsFromJson(body, Fields(asked), "request body");
  CheckLimits(asked, options_);
  SetLimit(exchange, asked.deadline_ms);
  const auto model = ChooseModel(*models_, asked, texts).model;
  CheckRoom(*model);
  const auto place = asked.attention ? PlaceForAttention() : nullptr;
  const auto job = JobFor(*exchange, model, std::move(texts), asked);
  job->place = place;
  if (place != nullptr) exchange->Hold(place);
  if (asked.stream) return Stream(exchange, job);
  Run(exchange, job,
      [](const TranslationJob& done) { return HttpResponse{200, Dump(JobToJson(done))}; });
}

void Service::Stream(const ExchangePtr& exchange, const JobPtr& job) const {
  const std::weak_ptr weak = job;
  job->on_sentence = [this, exchange, weak](const JobSentence& sentence) {
    Continue(exchange, weak.lock(), [exchange, &sentence](const TranslationJob& running) {
      exchange->SendEvent(SentenceEvent(running, sentence));
    });
  };
  job->on_end = [this, exchange, weak](const std::exception_ptr& error) {
    const JobPtr ended = weak.lock();
    if (!error) Count(*ended);
    Continue(exchange, ended, [exchange, error](const TranslationJob& done) {
      if (error) std::rethrow_exception(error);
      exchange->SendEvent(DoneEvent(done));
      exchange->EndEvents();
    });
  };
  Put(exchange, job);
}

}  // namespace attend
