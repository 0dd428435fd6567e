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
          {"/translate", "POST", call(&Api::Translate), Effort::kModel, KeySource::kBody},
          {"/translate_file", "POST", call(&Api::TranslateFile), Effort::kModel, KeySource::kBody},
          {"/download_file/{name}", "GET, HEAD", call(&Api::DownloadFile)}};
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
  settings["supportedFilesFormat"] = FileSuffixes();
  if (!models.empty()) {
    settings["language"]["source"] = describe(models[0]->source());
    settings["language"]["target"] = describe(models[0]->target());
  }
  exchange->Answer({200, Dump(settings)});
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

void LibreTranslateApi::TranslateTexts(const ExchangePtr& exchange, LibreRequest request,
                                       LibreAnswer answer) const {
  CheckCharacters(request.texts, context_.options);
  if (request.alternatives >= context_.options.max_beam_size) {
    throw Error(ErrorKind::kUsage,
                fmt::format("alternatives is {}, expected at most {} here", request.alternatives,
                            context_.options.max_beam_size - 1));
  }
  RequestOptions asked;
  asked.model = request.model;
  asked.source = request.source;
  asked.target = request.target;
  asked.queue.priority = request.priority;
  asked.translation = context_.options.translation;
  asked.translation.n_best = 1 + request.alternatives;
  asked.translation.beam_size = std::max(asked.translation.beam_size, asked.translation.n_best);
  asked.translation.alignments = request.html;
  const auto texts = std::make_shared<SourceTexts>(std::move(request.texts), request.html);
  const ModelChoice choice =
      ChooseModels(context_.models, asked, texts->Samples(), exchange->request().path);
  requests_.CheckRoom(choice);
  const auto job = requests_.JobFor(*exchange, choice, texts->PerSegment(choice.of_text),
                                    texts->segments(), asked);
  requests_.Run(exchange, job,
                [exchange, request = std::move(request), answer = std::move(answer), texts,
                 choice](const TranslationJob& done) {
                  HttpResponse response = answer(request, done, *texts, choice);
                  for (const auto& [header, count] :
                       {std::pair("X-Attend-Unfinished", done.Unfinished()),
                        std::pair("X-Attend-Divided", done.Divided()),
                        std::pair("X-Attend-Unknown-Characters", done.UnknownCharacters())}) {
                    if (count > 0) response.headers.emplace_back(header, std::to_string(count));
                  }
                  exchange->Answer(std::move(response));
                });
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
  TranslateTexts(
      exchange, std::move(request),
      [many](const auto& asked, const auto& job, const auto& texts, const ModelChoice& choice) {
        return TranslationsToJson(asked, many, job, texts, choice);
      });
}

void LibreTranslateApi::TranslateFile(const ExchangePtr& exchange) const {
  const RequestBody body = context_.router.ReadBody(exchange);
  const UploadedFile file = body.File("file");
  const std::string suffix = SuffixOf(file.name);
  CheckWholeFile(file);
  LibreRequest request{
      .texts = {file.content}, .html = suffix != ".txt", .priority = Priority::kBulk};
  request.model = body.Text("model", "");
  request.source = body.Text("source", "auto");
  request.target = body.Text("target");
  TranslateTexts(
      exchange, std::move(request),
      [this, suffix, exchange](const auto&, const auto& job, const auto& texts, const auto&) {
        const std::string name =
            files_.Put(texts.Translated(job, 0)[0], suffix, TranslatedFiles::Clock::now());
        Json answer;
        answer["translatedFileUrl"] =
            context_.router.LinkTo("/download_file/" + name, exchange->request());
        return HttpResponse{200, Dump(answer)};
      });
}

// Never as HTML, which would run its scripts as ours.
void LibreTranslateApi::DownloadFile(const ExchangePtr& exchange) const {
  const std::string name =
      exchange->request().path.substr(std::string_view("/download_file/").size());
  std::optional<std::string> file = files_.Get(name, TranslatedFiles::Clock::now());
  if (!file) throw Refusal(404, "there is no such file; files are kept for ten minutes");
  exchange->Answer({200,
                    std::move(*file),
                    "application/octet-stream",
                    {{"Content-Disposition", fmt::format("attachment; filename=\"{}\"", name)}}});
}

}  // namespace attend
