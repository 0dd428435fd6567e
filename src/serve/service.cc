#include "serve/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "attend/error.h"
#include "base/json.h"
#include "base/sha256.h"
#include "serve/openapi.h"
#include "web/web_files.h"

namespace attend {

HttpResponse ErrorResponse(int status, const std::string& message) {
  Json body;
  body["error"] = message;
  return {status, Dump(body)};
}

HttpResponse ResponseTo(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Refusal& refusal) {
    HttpResponse response = ErrorResponse(refusal.status, refusal.what());
    response.headers = refusal.headers;
    return response;
  } catch (const Error& failed) {
    return ErrorResponse(failed.kind() == ErrorKind::kRuntime ? 500 : 400, failed.what());
  } catch (const std::bad_alloc&) {
    return ErrorResponse(503, "out of memory; send less text at once, or take a smaller beam_size");
  } catch (const std::exception& failed) {
    return ErrorResponse(500, fmt::format("internal error: {}", failed.what()));
  }
}

Service::Service(const ServeOptions& options, ModelStore* models, const ApiKeys* keys,
                 Metrics* metrics)
    : options_(options),
      models_(models),
      keys_(keys),
      metrics_(metrics),
      limit_(std::make_unique<RateLimit>(options.request_limit)),
      files_(std::make_unique<TranslatedFiles>()),
      routes_({{"/health", "GET, HEAD", &Service::Health},
               {"/metrics", "GET, HEAD", &Service::MetricsText},
               {"/openapi.json", "GET, HEAD", &Service::OpenApi},
               {"/v1/models", "GET, HEAD", &Service::Models},
               {"/v1/translate", "POST", &Service::TranslateNative},
               {"/languages", "GET, HEAD", &Service::Languages},
               {"/frontend/settings", "GET, HEAD", &Service::FrontendSettings},
               {"/detect", "POST", &Service::Detect},
               {"/suggest", "POST", &Service::Suggest},
               {"/translate", "POST", &Service::TranslateLibre},
               {"/translate_file", "POST", &Service::TranslateFile},
               {"/download_file/{name}", "GET, HEAD", &Service::DownloadFile},
               {"/", "GET, HEAD", &Service::Page}}) {
  for (const WebFile& file : WebFiles()) {
    if (file.name.ends_with(".html")) continue;
    routes_.push_back({fmt::format("/{}", file.name), "GET, HEAD", &Service::Page});
  }
}

bool Service::Route::Fits(const std::string& asked) const {
  const size_t name = path.find('{');
  return name == std::string::npos ? asked == path : asked.starts_with(path.substr(0, name));
}

std::string Service::RouteOf(const HttpRequest& request) const {
  for (const Route& route : routes_) {
    if (route.Fits(request.path)) return route.path;
  }
  return "other";
}

void Service::Handle(const ExchangePtr& exchange) const {
  try {
    Dispatch(exchange);
  } catch (const std::exception&) {
    exchange->Answer(ResponseTo(std::current_exception()));
  }
}

void Service::Dispatch(const ExchangePtr& exchange) const {
  const HttpRequest& request = exchange->request();
  for (const Route& route : routes_) {
    if (!route.Fits(request.path)) continue;
    const std::string methods = ", " + route.methods + ", ";
    if (methods.find(", " + request.method + ", ") != std::string::npos) {
      return (this->*route.answer)(exchange);
    }
    if (request.method == "OPTIONS" && !options_.http.cors_origin.empty()) {
      HttpResponse response{204, ""};
      response.headers = {{"Access-Control-Allow-Methods", route.methods},
                          {"Access-Control-Allow-Headers", "Content-Type, Authorization"},
                          {"Access-Control-Max-Age", "600"}};
      return exchange->Answer(std::move(response));
    }
    throw Refusal(405, fmt::format("{} takes {}", route.path, route.methods),
                  {{"Allow", route.methods}});
  }
  throw Refusal(404, "there is nothing here; /openapi.json says what there is");
}

// Whoever sends a key that is not known asks as its address: nobody can try many.
void Service::CheckClient(const HttpRequest& request, const std::string& given) const {
  constexpr std::string_view kBearer = "Bearer ";
  std::string key = given;
  if (key.empty() && request.authorization.starts_with(kBearer)) {
    key = request.authorization.substr(kBearer.size());
  }
  const bool allowed = keys_->Allows(key);
  const bool by_key = allowed && keys_->required();
  const int64_t seconds =
      limit_->Take(by_key ? Sha256(key) : request.client, RateLimit::Clock::now());
  if (seconds > 0) {
    throw Refusal(429, fmt::format("too many requests; try again in {} s", seconds),
                  {{"Retry-After", std::to_string(seconds)}});
  }
  if (!allowed) {
    throw Refusal(403, key.empty()
                           ? "an API key is needed; send it as api_key, or as Authorization: "
                             "Bearer KEY"
                           : "the API key is not known");
  }
}

void Service::RefuseWork() const {
  if (stopping_) throw Refusal(503, "the server is stopping", {{"Retry-After", "5"}});
  throw Refusal(503, "too much is waiting; try again later", {{"Retry-After", "1"}});
}

void Service::CheckRoom(const ServedModel& model) const {
  if (stopping_ || !model.queue().HasRoom()) RefuseWork();
}

void Service::Put(const ExchangePtr& exchange, const std::shared_ptr<TranslationJob>& job,
                  int64_t deadline_ms) const {
  RequestFacts& facts = exchange->facts();
  facts.model = job->model->name();
  facts.sentences = std::ssize(job->sentences);
  facts.source_pieces = job->SourcePieces();
  for (const auto& text : job->texts) {
    if (options_.log_text) facts.text += text.text + '\n';
  }
  auto limit = static_cast<int64_t>(options_.request_timeout * 1000);
  if (deadline_ms > 0) limit = std::min(limit, deadline_ms);
  exchange->Limit(std::chrono::milliseconds(limit), [weak = std::weak_ptr(job)] {
    if (const auto abandoned = weak.lock()) abandoned->model->queue().Cancel(abandoned);
  });
  if (job->sentences.empty()) return job->on_end(nullptr);
  if (!job->model->queue().TryPut(job)) RefuseWork();
}

void Service::Count(const TranslationJob& job) const {
  metrics_->Translated(job.model->name(), std::ssize(job.sentences), job.SourcePieces(),
                       job.TargetPieces());
}

// The job is its own while this is called.
void Service::Run(const ExchangePtr& exchange, const std::shared_ptr<TranslationJob>& job,
                  int64_t deadline_ms, Finish finish) const {
  job->on_end = [this, exchange, raw = job.get(),
                 finish = std::move(finish)](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
      Count(*raw);
      exchange->Answer(finish(*raw));
    } catch (const std::exception&) {
      exchange->Answer(ResponseTo(std::current_exception()));
    }
  };
  Put(exchange, job, deadline_ms);
}

void Service::Health(const ExchangePtr& exchange) const {
  if (stopping_) RefuseWork();
  exchange->Answer({200, R"({"status":"ok"})"});
}

void Service::MetricsText(const ExchangePtr& exchange) const {
  exchange->Answer({200, metrics_->Text(*models_), "text/plain; version=0.0.4; charset=utf-8"});
}

void Service::Page(const ExchangePtr& exchange) const {
  const std::string& path = exchange->request().path;
  const WebFile& file = FindWebFile(path == "/" ? "page.html" : path.substr(1));
  exchange->Answer({200, std::string(file.content), std::string(file.type)});
}

void Service::OpenApi(const ExchangePtr& exchange) const {
  exchange->Answer({200, OpenApiDocument(options_)});
}

}  // namespace attend
