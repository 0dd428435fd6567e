#include "serve/tasks/translation/libretranslate_api.h"

#include <fmt/format.h>
#include <unicode/locid.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "attend/error.h"
#include "serve/refusal.h"
#include "serve/request_body.h"
#include "serve/tasks/translation/file_check.h"
#include "serve/tasks/translation/language_detector.h"
#include "serve/tasks/translation/model_choice.h"

namespace attend {
namespace {

// `many`: q is a list, and so is the answer.
std::vector<std::string> TextsAt(const RequestBody& body, bool* many) {
  const Json* q = body.Member("q");
  *many = q != nullptr && q->is_array();
  if (!*many) return {body.Text("q")};
  std::vector<std::string> texts;
  for (const Json& text : *q) {
    if (!text.is_string()) throw Error(ErrorKind::kInput, "request: q holds what is no text");
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

bool IsHtml(const RequestBody& body) {
  const std::string format = body.Text("format", "text");
  if (format == "html" || format == "text") return format == "html";
  throw Error(ErrorKind::kInput, "request: format is neither text nor html");
}

std::string LanguageName(const std::string& code) {
  icu::UnicodeString name;
  icu::Locale(code.c_str()).getDisplayName(icu::Locale::getEnglish(), name);
  std::string utf8;
  return name.toUTF8String(utf8);
}

HttpResponse TranslationsToJson(const LibreRequest& request, bool many, const TranslationJob& job,
                                const SourceTexts& texts, const ModelChoice& choice) {
  const std::vector<std::string> best = texts.Translated(job, 0);
  Json alternatives = Json::array();  // of each text
  for (size_t i = 0; i < best.size(); ++i) alternatives.push_back(Json::array());
  for (int64_t rank = 1; rank <= request.alternatives; ++rank) {
    const std::vector<std::string> next = texts.Translated(job, rank);
    for (size_t i = 0; i < next.size(); ++i) {
      const auto& before = alternatives[i];
      const bool known =
          next[i] == best[i] || std::find(before.begin(), before.end(), next[i]) != before.end();
      if (!next[i].empty() && !known) alternatives[i].push_back(next[i]);
    }
  }
  Json body;
  body["translatedText"] = many ? Json(best) : Json(best[0]);
  if (request.alternatives > 0) body["alternatives"] = many ? alternatives : alternatives[0];
  if (IsAuto(request.source)) {
    Json languages = Json::array();
    for (size_t i = 0; i < best.size(); ++i) {
      languages.push_back(
          {{"confidence", choice.confidences[i]}, {"language", choice.ModelOf(i).source()}});
    }
    body["detectedLanguage"] = many ? languages : languages[0];
  }
  return {200, Dump(body)};
}

}  // namespace

std::vector<Route> LibreTranslateApi::Routes() {
  const auto call = [this](void (LibreTranslateApi::*answer)(const ExchangePtr&) const) {
    return [this, answer](const ExchangePtr& exchange) { (this->*answer)(exchange); };
  };
  using Api = LibreTranslateApi;
  return {{"/languages", "GET, HEAD", call(&Api::Languages)},
          {"/frontend/settings", "GET, HEAD", call(&Api::FrontendSettings)},
          {"/detect", "POST", call(&Api::Detect), Effort::kReading, KeySource::kBody},
          {"/suggest", "POST", call(&Api::Suggest)},
          {"/translate", "POST", call(&Api::Translate), Effort::kModel, KeySource::kBody}};
}

void LibreTranslateApi::Languages(const ExchangePtr& exchange) const {
  std::map<std::string, std::set<std::string>> targets;
  for (const auto& model : Translators(context_.models)) {
    if (model->source().empty()) continue;
    targets[model->source()].insert(model->target());
    targets[model->target()];
  }
  Json languages = Json::array();
  for (const auto& [code, to] : targets) {
    languages.push_back({{"code", code}, {"name", LanguageName(code)}, {"targets", to}});
  }
  exchange->Answer({200, Dump(languages)});
}

void LibreTranslateApi::FrontendSettings(const ExchangePtr& exchange) const {
  documents_.WhenKnown([] {});  // has it found out; this answer does not wait
  exchange->Answer({200, Dump(Settings())});
}

Json LibreTranslateApi::Settings() const {
  const auto models = Translators(context_.models);
  const auto describe = [](const std::string& code) {
    return Json{{"code", code}, {"name", LanguageName(code)}};
  };
  Json settings;
  settings["apiKeys"] = context_.keys.required();
  settings["keyRequired"] = context_.keys.required();
  settings["charLimit"] = SureCharacters(context_.options);
  settings["frontendTimeout"] = 500;
  settings["suggestions"] = false;
  settings["filesTranslation"] = true;
  std::vector<std::string> suffixes = FileSuffixes();
  for (const std::string& suffix : documents_.Usable()) suffixes.push_back(suffix);
  settings["supportedFilesFormat"] = suffixes;
  if (!models.empty()) {
    settings["language"]["source"] = describe(models[0]->source());
    settings["language"]["target"] = describe(models[0]->target());
  }
  return settings;
}

void LibreTranslateApi::Detect(const ExchangePtr& exchange) const {
  const RequestBody body = context_.router.ReadBody(exchange);
  const std::string text = body.Text("q");
  CheckCharacters({text}, context_.options);
  if (!HasLanguageDetector()) {
    throw Refusal(501,
                  "this server was built without a language detector (CLD2, libcld2-dev); name the "
                  "source, or translate from auto");
  }
  std::vector<DetectedLanguage> found = DetectLanguages(text);
  const auto models = Translators(context_.models);
  if (found.empty() && !models.empty())
    found.push_back({models[0]->source()});  // clients expect one
  Json languages = Json::array();
  for (const DetectedLanguage& language : found) {
    languages.push_back({{"confidence", language.confidence}, {"language", language.code}});
  }
  exchange->Answer({200, Dump(languages)});
}

void LibreTranslateApi::Suggest(const ExchangePtr&) const {
  throw Refusal(403, "this server takes no suggestions");
}

void LibreTranslateApi::Translate(const ExchangePtr& exchange) const {
  const RequestBody body = context_.router.ReadBody(exchange);
  bool many = false;
  LibreRequest request;
  request.texts = TextsAt(body, &many);
  request.html = IsHtml(body);
  request.model = body.Text("model", "");
  request.source = body.Text("source", "auto");
  request.target = body.Text("target");
  request.alternatives = body.Number("alternatives");
  libre_.Run(exchange, std::move(request),
             [exchange, many](const LibreRequest& asked, const TranslationJob& job,
                              const SourceTexts& texts, const ModelChoice& choice) {
               HttpResponse response = TranslationsToJson(asked, many, job, texts, choice);
               CountsOf(job).AddTo(&response.headers);
               exchange->Answer(std::move(response));
             });
}

}  // namespace attend
