#include "serve/tasks/translation/projects_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "attend/error.h"
#include "base/excerpt.h"
#include "serve/json_request.h"
#include "serve/openapi.h"
#include "serve/tasks/translation/served_translator.h"
#include "text/ascii.h"
#include "text/text_format.h"
#include "text/utf8.h"

namespace attend {
namespace {

constexpr const char* kCorrectionsRoute = "/v1/corrections";
constexpr const char* kProjectsRoute = "/v1/projects";
constexpr const char* kProjectRoute = "/v1/projects/{name}";
constexpr int64_t kMostCharacters = 10000;  // of a source or target

struct CorrectionRequest {
  std::string project, model, source_language, target_language;
};

FieldList Fields(CorrectionRequest& request) {
  FieldList fields;
  fields
      .Add("project", &request.project,
           "name of the project, up to 64 letters, digits and . _ -; a new one is made")
      .Add("model", &request.model,
           "name of the model that the project adapts; empty: the one of these languages")
      .Add("source_language", &request.source_language, "empty: the model's")
      .Add("target_language", &request.target_language, "empty: the model's");
  return fields;
}

// As training reads it: one line.
std::string OneLine(std::string text, const char* name) {
  if (CountCodePoints(text) > kMostCharacters) {
    throw Error(ErrorKind::kInput,
                fmt::format("a {} has {} characters, expected at most {}; correct sentence by "
                            "sentence",
                            name, CountCodePoints(text), kMostCharacters));
  }
  std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  std::string line(Trimmed(text));
  if (line.empty()) throw Error(ErrorKind::kInput, fmt::format("a {} is empty", name));
  // Training refuses a text that begins like that.
  if (const std::string format = ForeignFormat(line); !format.empty()) {
    throw Error(ErrorKind::kInput,
                fmt::format("a {} is {}, expected text: '{}'", name, format, Excerpt(line)));
  }
  return line;
}

std::vector<Correction> TakeCorrections(Json* body, const ServeOptions& options) {
  std::vector<std::string> sources = TakeTexts(body, "source"), targets = TakeTexts(body, "target");
  if (sources.size() != targets.size()) {
    throw Error(ErrorKind::kInput, fmt::format("there are {} sources and {} targets, expected as "
                                               "many",
                                               sources.size(), targets.size()));
  }
  if (sources.empty() || std::ssize(sources) > options.max_sentences) {
    throw Error(ErrorKind::kInput, fmt::format("there are {} corrections, expected 1 to {}",
                                               sources.size(), options.max_sentences));
  }
  std::vector<Correction> corrections;
  for (size_t i = 0; i < sources.size(); ++i)
    corrections.push_back(
        {OneLine(std::move(sources[i]), "source"), OneLine(std::move(targets[i]), "target")});
  return corrections;
}

}  // namespace

std::vector<Route> ProjectsApi::Routes() {
  return {{kCorrectionsRoute, "POST", [this](const ExchangePtr& exchange) { Correct(exchange); },
           Effort::kReading},
          {kProjectsRoute, "GET, HEAD", [this](const ExchangePtr& exchange) { List(exchange); },
           Effort::kReading},
          {kProjectRoute, "GET, HEAD, POST, DELETE",
           [this](const ExchangePtr& exchange) { OfProject(exchange); }, Effort::kReading}};
}

void ProjectsApi::Correct(const ExchangePtr& exchange) {
  Json body = ReadJsonRequest(exchange.get());
  const std::vector<Correction> corrections = TakeCorrections(&body, context_.options);
  CorrectionRequest asked;
  FieldsFromJson(body, Fields(asked), "request body");
  const auto model = context_.models.Find(kTranslateRoute, asked.model, asked.source_language,
                                          asked.target_language, kCorrectionsRoute);
  const std::string& base = model->whole() ? model->name() : model->base();
  exchange->Answer({200, Dump(projects_.Add(asked.project, base, corrections))});
}

void ProjectsApi::List(const ExchangePtr& exchange) const {
  exchange->Answer({200, Dump(projects_.States())});
}

void ProjectsApi::OfProject(const ExchangePtr& exchange) {
  const HttpRequest& request = exchange->request();
  const std::string name = request.path.substr(std::string_view(kProjectsRoute).size() + 1);
  if (request.method == "DELETE") {
    projects_.Remove(name);
    return exchange->Answer({200, Dump(Json::object())});
  }
  if (request.method != "POST") return exchange->Answer({200, Dump(projects_.State(name))});
  projects_.State(name);  // 404 before what is wrong with the request
  const Json body = ReadJsonRequest(exchange.get());
  int64_t version = -1;
  FieldList fields;
  fields.Add("version", &version, 0, 1e15, "number of the version; 0: none, the model alone");
  FieldsFromJson(body, fields, "request body");
  if (version < 0) throw Error(ErrorKind::kInput, "request body: version is missing");
  exchange->Answer({200, Dump(projects_.Serve(name, version))});
}

void ProjectsApi::Describe(Json* document) const {
  using openapi::Content, openapi::Operation, openapi::Reference, openapi::WithBody,
      openapi::WithKey;
  const std::string json = "application/json";
  Json& paths = (*document)["paths"];
  const std::vector<int> writing = {400, 403, 404, 413, 415, 421, 429, 500, 503, 504};
  const std::vector<int> reading = {403, 404, 421, 429, 500, 503, 504};
  const Json project = Content(json, Reference("Project"));
  paths[kCorrectionsRoute]["post"] =
      WithBody(Operation("learn from corrected translations", project, writing),
               Content(json, Reference("Corrections")));
  paths[kProjectsRoute]["get"] =
      WithKey(Operation("the projects", Content(json, Reference("Projects")), reading));
  Json& one = paths[kProjectRoute];
  one["parameters"] = Json::array(
      {{{"name", "name"}, {"in", "path"}, {"required", true}, {"schema", {{"type", "string"}}}}});
  one["get"] = WithKey(Operation("a project", project, reading));
  one["post"] = WithBody(Operation("serve another version of its adapter", project, writing),
                         Content(json, Reference("ProjectChange")));
  one["delete"] =
      WithKey(Operation("delete a project: its corrections and adapters; an empty object",
                        Content(json, {{"type", "object"}}), reading));
}

}  // namespace attend
