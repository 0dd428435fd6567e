#include "serve/native_api.h"

#include <fmt/format.h>

#include "attend/error.h"
#include "engine/tasks/attention_labels.h"
#include "engine/tasks/translation_options.h"
#include "serve/model_choice.h"
#include "serve/request_body.h"
#include "serve/service.h"

namespace attend {
namespace {

Json AttentionToJson(const ServedModel& model, const JobSentence& sentence) {
  const PairScore& score = sentence.result.attention;
  const std::span<const int32_t> best = sentence.result.translation.hypotheses[0].ids;
  const size_t forced = score.decoder_self[0][0].size() - 1;  // learned positions may cut the rest
  const AttentionLabels labels = LabelsOf({model.translator().source(), sentence.ids},
                                          {model.translator().target(), best.first(forced)});
  Json attention;
  attention["source_pieces"] = labels.source;
  attention["target_pieces"] = labels.read;
  attention["encoder_self"] = score.encoder_self;
  attention["decoder_self"] = score.decoder_self;
  attention["cross"] = score.cross;
  return attention;
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

void CheckLimits(const RequestOptions& asked, const ServeOptions& options) {
  CheckTranslationOptions(asked.translation);
  if (asked.translation.beam_size > options.max_beam_size) {
    throw Error(ErrorKind::kUsage, fmt::format("beam_size is {}, expected at most {} here",
                                               asked.translation.beam_size, options.max_beam_size));
  }
}

}  // namespace

std::string ToEvent(const std::string& name, const Json& data) {
  return fmt::format("event: {}\ndata: {}\n\n", name, Dump(data));
}

Json SentenceToJson(const ServedModel& model, const JobSentence& sentence) {
  Json hypotheses = Json::array();
  for (const Hypothesis& hypothesis : sentence.result.translation.hypotheses) {
    Json one;
    one["text"] = hypothesis.text;
    one["score"] = hypothesis.score;
    one["log_probability"] = hypothesis.log_probability;
    one["finished"] = hypothesis.finished;
    if (sentence.options.alignments) {
      Json links = Json::array();
      for (const AlignmentLink& link : hypothesis.alignment) {
        links.push_back({link.source, link.target});
      }
      one["alignment"] = std::move(links);
    }
    hypotheses.push_back(std::move(one));
  }
  Json json;
  json["source"] = sentence.text;
  json["hypotheses"] = std::move(hypotheses);
  if (sentence.attention) json["attention"] = AttentionToJson(model, sentence);
  return json;
}

Json JobToJson(const TranslationJob& job) {
  Json translations = Json::array();
  for (const TranslationJob::Text& text : job.texts) {
    Json sentences = Json::array();
    for (const JobSentence& sentence : job.SentencesOf(text)) {
      sentences.push_back(SentenceToJson(*job.model, sentence));
    }
    Json one;
    one["text"] = job.Join(text, 0);
    one["sentences"] = std::move(sentences);
    translations.push_back(std::move(one));
  }
  Json json;
  json["model"] = job.model->name();
  json["translations"] = std::move(translations);
  return json;
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
  CheckClient(request, "");
  if (MediaTypeOf(request) != "application/json") {
    throw Refusal(415, "expected Content-Type: application/json");
  }
  Json body = ParseJson(request.body, "request body");
  if (!body.is_object() || !body.contains("text")) {
    throw Error(ErrorKind::kInput, "request body: expected an object with text");
  }
  std::vector<std::string> texts = TextsOf(body["text"]);
  body.erase("text");
  RequestOptions asked;
  asked.translation = options_.translation;
  FieldsFromJson(body, Fields(asked), "request body");
  CheckLimits(asked, options_);
  const auto model = ChooseModel(*models_, asked, texts).model;
  CheckRoom(*model);
  const auto job = MakeJob(model, std::move(texts), asked, options_);
  if (asked.stream) return Stream(exchange, job, asked.deadline_ms);
  Run(exchange, job, asked.deadline_ms,
      [](const TranslationJob& done) { return HttpResponse{200, Dump(JobToJson(done))}; });
}

void Service::Stream(const ExchangePtr& exchange, const std::shared_ptr<TranslationJob>& job,
                     int64_t deadline_ms) const {
  TranslationJob* raw = job.get();
  job->on_sentence = [exchange, raw](const JobSentence& sentence) {
    const size_t index = &sentence - raw->sentences.data();
    size_t text = raw->texts.size() - 1;
    while (raw->texts[text].first > index || raw->texts[text].parts.empty()) --text;
    Json event = SentenceToJson(*raw->model, sentence);
    event["text_index"] = text;
    event["sentence_index"] = index - raw->texts[text].first;
    exchange->SendEvent(ToEvent("sentence", event));
  };
  job->on_end = [this, exchange, raw](const std::exception_ptr& error) {
    try {
      if (error) std::rethrow_exception(error);
      Count(*raw);
      Json translations = Json::array();
      for (const TranslationJob::Text& text : raw->texts) {
        translations.push_back({{"text", raw->Join(text, 0)}});
      }
      Json done;
      done["translations"] = std::move(translations);
      exchange->SendEvent(ToEvent("done", done));
    } catch (const std::exception&) {
      exchange->SendEvent("event: error\ndata: " + ResponseTo(std::current_exception()).body +
                          "\n\n");
    }
    exchange->EndEvents();
  };
  Put(exchange, job, deadline_ms);
}

}  // namespace attend
