// LibreTranslate's routes, so that its clients work unchanged.
#include <fmt/format.h>
#include <unicode/locid.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "attend/error.h"
#include "engine/tasks/translation_options.h"
#include "serve/form.h"
#include "serve/html_document.h"
#include "serve/native_api.h"
#include "serve/service.h"

namespace attend {
namespace {

struct LibreRequest {
  std::vector<std::string> q;
  bool many = false;  // q is a list, and so is the answer
  std::string source, target, api_key;
  bool html = false;
  int64_t alternatives = 0;
};

// The members of a JSON or form body; those of a form are texts.
Json Parameters(const HttpRequest& request) {
  if (request.content_type.starts_with("application/json")) {
    Json body = ParseJson(request.body, "request body");
    if (!body.is_object()) throw Error(ErrorKind::kInput, "request body: expected an object");
    return body;
  }
  if (!request.content_type.starts_with("application/x-www-form-urlencoded")) {
    throw Refusal(415,
                  "expected Content-Type: application/json or application/x-www-form-urlencoded");
  }
  Json body = Json::object();
  for (auto& [name, value] : ParseForm(request.body)) body[name] = std::move(value);
  return body;
}

std::string TextAt(const Json& body, const std::string& name, const char* otherwise) {
  const auto found = body.find(name);
  if (found != body.end() && found->is_string()) return found->get<std::string>();
  if (found == body.end() && otherwise != nullptr) return otherwise;
  throw Error(ErrorKind::kInput, fmt::format("request body: {} is {}, expected a text", name,
                                             found == body.end() ? "missing" : "no text"));
}

int64_t NumberAt(const Json& body, const std::string& name) {
  const auto found = body.find(name);
  if (found == body.end()) return 0;
  int64_t number = -1;
  if (found->is_number_integer()) number = found->get<int64_t>();
  if (found->is_string()) {
    const auto& text = found->get_ref<const std::string&>();
    const char* end = text.data() + text.size();
    if (std::from_chars(text.data(), end, number).ptr != end) number = -1;
  }
  if (number >= 0) return number;
  throw Error(ErrorKind::kInput,
              fmt::format("request body: {} is no whole number of at least 0", name));
}

LibreRequest Read(const Json& body) {
  LibreRequest request;
  const auto q = body.find("q");
  if (q != body.end() && q->is_array()) {
    request.many = true;
    for (const Json& text : *q) {
      if (!text.is_string())
        throw Error(ErrorKind::kInput, "request body: q holds what is no text");
      request.q.push_back(text.get<std::string>());
    }
  } else {
    request.q.push_back(TextAt(body, "q", nullptr));
  }
  request.source = TextAt(body, "source", "auto");
  request.target = TextAt(body, "target", nullptr);
  const std::string format = TextAt(body, "format", "text");
  request.html = format == "html";
  if (!request.html && format != "text") {
    throw Error(ErrorKind::kInput, "request body: format is neither text nor html");
  }
  request.alternatives = NumberAt(body, "alternatives");
  return request;
}

std::string LanguageName(const std::string& code) {
  icu::UnicodeString name;
  icu::Locale(code.c_str()).getDisplayName(icu::Locale::getEnglish(), name);
  std::string utf8;
  return name.toUTF8String(utf8);
}

// The documents of one request, whose segments are the job's texts.
using Documents = std::vector<HtmlDocument>;

std::string JoinDocument(const HtmlDocument& document, const TranslationJob& job, size_t* text,
                         size_t rank) {
  std::vector<std::string> segments;
  for (size_t s = 0; s < document.segments(); ++s, ++*text) {
    const TranslationJob::Text& segment = job.texts[*text];
    const auto sentences = job.SentencesOf(segment);
    segments.push_back(document.Translate(s, segment.parts, [&](size_t i) -> const Hypothesis& {
      return sentences[i].result.translation.hypotheses[rank];
    }));
  }
  return document.Join(segments);
}

// The translations of all of q, at one rank.
std::vector<std::string> Results(const TranslationJob& job, const Documents* documents,
                                 size_t rank) {
  std::vector<std::string> results;
  size_t text = 0;
  if (documents == nullptr) {
    for (const auto& one : job.texts) results.push_back(job.Join(one, rank));
  } else {
    for (const HtmlDocument& one : *documents) {
      results.push_back(JoinDocument(one, job, &text, rank));
    }
  }
  return results;
}

HttpResponse Answer(const LibreRequest& request, const TranslationJob& job,
                    const Documents* documents) {
  const std::vector<std::string> best = Results(job, documents, 0);
  Json alternatives = Json::array();  // of each text
  for (size_t i = 0; i < best.size(); ++i) alternatives.push_back(Json::array());
  for (int64_t rank = 1; rank <= request.alternatives; ++rank) {
    const std::vector<std::string> next = Results(job, documents, rank);
    for (size_t i = 0; i < next.size(); ++i) alternatives[i].push_back(next[i]);
  }
  // Nothing was detected: it is the one language that a model for this target reads.
  const Json language = {{"confidence", 0.0}, {"language", job.model->source()}};
  Json body;
  if (request.many) {
    body["translatedText"] = best;
  } else {
    body["translatedText"] = best[0];
  }
  if (request.alternatives > 0) {
    body["alternatives"] = request.many ? alternatives : alternatives[0];
  }
  if (request.source == "auto") {
    body["detectedLanguage"] = request.many ? Json(best.size(), language) : language;
  }
  return {200, Dump(body)};
}

}  // namespace

void Service::Languages(const ExchangePtr& exchange) const {
  std::map<std::string, std::set<std::string>> targets;
  for (const auto& model : models_->models()) {
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

void Service::FrontendSettings(const ExchangePtr& exchange) const {
  const auto first = models_->models().front();
  const auto describe = [](const std::string& code) {
    return Json{{"code", code}, {"name", LanguageName(code)}};
  };
  Json settings;
  settings["apiKeys"] = keys_->required();
  settings["keyRequired"] = keys_->required();
  settings["charLimit"] = options_.http.max_body_bytes;
  settings["frontendTimeout"] = 500;
  settings["suggestions"] = false;
  settings["filesTranslation"] = false;
  settings["supportedFilesFormat"] = Json::array();
  settings["language"]["source"] = describe(first->source());
  settings["language"]["target"] = describe(first->target());
  exchange->Answer({200, Dump(settings)});
}

void Service::Detect(const ExchangePtr& exchange) const {
  const Json body = Parameters(exchange->request());
  CheckKey(exchange->request(), TextAt(body, "api_key", ""));
  TextAt(body, "q", nullptr);
  throw Refusal(501, "this server detects no languages; name the source, or translate from auto");
}

void Service::TranslateLibre(const ExchangePtr& exchange) const {
  const Json body = Parameters(exchange->request());
  CheckKey(exchange->request(), TextAt(body, "api_key", ""));
  LibreRequest request = Read(body);
  RequestOptions asked;
  asked.translation = options_.translation;
  asked.translation.n_best = 1 + request.alternatives;
  asked.translation.beam_size = std::max(asked.translation.beam_size, asked.translation.n_best);
  asked.translation.alignments = request.html;
  if (asked.translation.beam_size > options_.max_beam_size) {
    throw Error(ErrorKind::kUsage, fmt::format("alternatives is {}, expected at most {} here",
                                               request.alternatives, options_.max_beam_size - 1));
  }
  const auto model = models_->Find("", request.source, request.target);
  CheckRoom(*model, 1);
  std::shared_ptr<Documents> documents;
  std::vector<std::string> texts;
  if (request.html) {
    documents = std::make_shared<Documents>();
    for (const std::string& html : request.q) {
      const HtmlDocument& document = documents->emplace_back(html);
      for (size_t s = 0; s < document.segments(); ++s) texts.push_back(document.Text(s));
    }
  } else {
    texts = request.q;
  }
  const auto job = MakeJob(model, std::move(texts), asked, options_);
  Run(exchange, job, 0, [request = std::move(request), documents](const TranslationJob& done) {
    return Answer(request, done, documents.get());
  });
}

}  // namespace attend
