#include "serve/service.h"

#include <fmt/format.h>

#include "serve/form.h"
#include "serve/openapi.h"
#include "serve/tasks/registry.h"
#include "web/web_files.h"

namespace attend {

Service::Service(const ServeOptions& options, ModelStore* models, const ApiKeys* keys,
                 Metrics* metrics, const WriteEvent& write_event)
    : Router(options, models, keys),
      options_(options),
      models_(models),
      metrics_(metrics),
      handlers_(TaskHandlers({options, *models, *keys, *metrics, *this, write_event})) {
  const auto look = [this](const std::string& path,
                           void (Service::*answer)(const ExchangePtr&) const,
                           ErrorForm errors = ErrorForm::kPlain) {
    Add({{.path = path,
          .methods = "GET, HEAD",
          .answer = [this, answer](const auto& exchange) { (this->*answer)(exchange); },
          .errors = errors}});
  };
  look("/health", &Service::Health);
  look("/metrics", &Service::MetricsText);
  look("/openapi.json", &Service::OpenApi);
  look("/v1/models", &Service::Models, ErrorForm::kOpenAi);
  look("/v1/models/{name}", &Service::Model, ErrorForm::kOpenAi);
  for (const auto& handler : handlers_) Add(handler->Routes());
  look("/", &Service::Page);
  for (const WebFile& file : WebFiles()) {
    if (!file.name.ends_with(".html")) look(fmt::format("/{}", file.name), &Service::Page);
  }
}

void Service::Close() {
  Router::Close();
  for (const auto& handler : handlers_) handler->Close();
}

void Service::Health(const ExchangePtr& exchange) const {
  if (stopping()) RefuseWork();
  exchange->Answer({200, R"({"status":"ok"})"});
}

void Service::MetricsText(const ExchangePtr& exchange) const {
  exchange->Answer({200, metrics_->Text(*models_), "text/plain; version=0.0.4; charset=utf-8"});
}

void Service::OpenApi(const ExchangePtr& exchange) const {
  Json document = OpenApiOfServer(options_);
  for (const auto& handler : handlers_) handler->Describe(&document);
  exchange->Answer({200, document.dump(1, ' ', false, Json::error_handler_t::replace)});
}

namespace {

// As clients of the OpenAI API want it.
Json ForOpenAi(const ServedModel& model) {
  return {{"id", model.name()},
          {"object", "model"},
          {"created", model.loaded_at()},
          {"owned_by", "attend"}};
}

}  // namespace

void Service::Model(const ExchangePtr& exchange) const {
  const auto name =
      DecodePath(exchange->request().path.substr(std::string_view("/v1/models/").size()));
  for (const auto& model : models_->models()) {
    if (model->name() == name) return exchange->Answer({200, Dump(ForOpenAi(*model))});
  }
  throw Refusal(404, "there is no model of this name; /v1/models lists them");
}

// As attend lists them, and as clients of the OpenAI API want them.
void Service::Models(const ExchangePtr& exchange) const {
  Json models = Json::array(), data = Json::array();
  for (const auto& model : models_->models()) {
    Json one;
    one["name"] = model->name();
    one["task"] = model->config().task;
    if (!model->whole()) one["base"] = model->base();
    one["source"] = model->source();
    one["target"] = model->target();
    one["routes"] = model->routes();
    const auto describe = [&](const std::string& side, const std::optional<StackConfig>& stack) {
      one[side + "_layers"] = stack ? stack->layers : 0;
      one[side + "_heads"] = stack ? stack->heads : 0;
    };
    describe("encoder", model->config().encoder);
    describe("decoder", model->config().decoder);
    model->Describe(&one);
    models.push_back(std::move(one));
    data.push_back(ForOpenAi(*model));
  }
  Json json;
  json["models"] = std::move(models);
  json["object"] = "list";
  json["data"] = std::move(data);
  exchange->Answer({200, Dump(json)});
}

void Service::Page(const ExchangePtr& exchange) const {
  const std::string& path = exchange->request().path;
  const WebFile& file = FindWebFile(path == "/" ? "page.html" : path.substr(1));
  exchange->Answer({200, std::string(file.content), std::string(file.type)});
}

}  // namespace attend
