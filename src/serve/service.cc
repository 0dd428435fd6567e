#include "serve/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <optional>

#include "attend/error.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "base/sha256.h"
#include "serve/openapi.h"
#include "text/ascii.h"
#include "web/web_files.h"

namespace attend {

namespace {

// Bytes of a body from which on it is a large one.
constexpr size_t kLargeBody = 16384;
// Requests that wait for their worker. Small ones take it a moment each, large ones up to seconds.
constexpr size_t kMostSmall = 256, kMostLarge = 16;
// Jobs with attention that run or wait to be written: each may take some hundred megabytes.
constexpr int kMostWithAttention = 8;

HttpResponse FailureResponse(const std::string& message, const std::string& failure) {
  HttpResponse response = ErrorResponse(500, message);
  response.failure = failure;
  return response;
}

// What the work throws is the answer, and false.
bool Attempt(const std::shared_ptr<Exchange>& exchange, const std::function<void()>& work) {
  try {
    work();
    return true;
  } catch (const std::exception&) {
    const std::exception_ptr error = std::current_exception();
    try {
      exchange->Answer(ResponseTo(error));
    } catch (const std::bad_alloc&) {  // the exchange's limit answers
    }
    return false;
  }
}

bool IsLarge(const HttpRequest& request) { return request.body.size() >= kLargeBody; }

// The key that the header gives; empty where it gives none.
std::string HeaderKey(const HttpRequest& request) {
  constexpr std::string_view kBearer = "bearer ";  // of any case (RFC 9110, section 11.1)
  if (!LowerCase(request.authorization).starts_with(kBearer)) return "";
  return std::string(Trimmed(std::string_view(request.authorization).substr(kBearer.size())));
}

// Of `address:port`.
std::string HostOf(const std::string& metrics_address) {
  const size_t colon = metrics_address.rfind(':');
  std::string address = metrics_address.substr(0, colon);
  std::erase_if(address, [](char c) { return c == '[' || c == ']'; });
  return address;
}

// As much as the square of a sentence's length times layers and heads may be to write.
bool IsLarge(const TranslationJob& request) {
  return std::ranges::any_of(request.jobs, [](const ModelJob& job) {
    return !job.sentences.empty() && job.sentences[0].attention;
  });
}

// All of the request leaves the queues.
void Cancel(const std::shared_ptr<TranslationJob>& request) {
  for (ModelJob& job : request->jobs) job.model->queue().Cancel({request, &job});
}

// As `de-en,fr-en`.
std::string NamesOf(const std::deque<ModelJob>& jobs) {
  std::string names;
  for (const ModelJob& job : jobs) names += (names.empty() ? "" : ",") + job.model->name();
  return names;
}

}  // namespace

HttpResponse ResponseTo(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Refusal& refusal) {
    return ErrorResponse(refusal.status, refusal.what(), refusal.headers);
  } catch (const Error& failed) {
    if (failed.kind() != ErrorKind::kRuntime) return ErrorResponse(400, failed.what());
    return FailureResponse(failed.what(), failed.what());
  } catch (const std::bad_alloc&) {
    HttpResponse response =
        BusyResponse("out of memory; send less text at once, or take a smaller beam_size", 5);
    response.failure = "out of memory";
    return response;
  } catch (const std::exception& failed) {
    return FailureResponse(fmt::format("internal error: {}", failed.what()), failed.what());
  }
}

Service::Service(const ServeOptions& options, ModelStore* models, const ApiKeys* keys,
                 Metrics* metrics)
    : options_(options),
      models_(models),
      keys_(keys),
      metrics_(metrics),
      public_url_(ParsePublicUrl(options.public_url)),
      hosts_(options.allowed_host, options.http.host),
      monitoring_hosts_(options.allowed_host, HostOf(options.http.metrics_address)),
      limit_(std::make_unique<RateLimit>(options.request_limit)),
      files_(std::make_unique<TranslatedFiles>()),
      routes_(
          {{"/health", "GET, HEAD", &Service::Health},
           {"/metrics", "GET, HEAD", &Service::MetricsText},
           {"/openapi.json", "GET, HEAD", &Service::OpenApi},
           {"/v1/models", "GET, HEAD", &Service::Models},
           {"/v1/translate", "POST", &Service::TranslateNative, Effort::kTranslation},
           {"/v1/check_file", "POST", &Service::CheckFile, Effort::kReading, KeyPlace::kBody},
           {"/languages", "GET, HEAD", &Service::Languages},
           {"/frontend/settings", "GET, HEAD", &Service::FrontendSettings},
           {"/detect", "POST", &Service::Detect, Effort::kReading, KeyPlace::kBody},
           {"/suggest", "POST", &Service::Suggest},
           {"/translate", "POST", &Service::TranslateLibre, Effort::kTranslation, KeyPlace::kBody},
           {"/translate_file", "POST", &Service::TranslateFile, Effort::kTranslation,
            KeyPlace::kBody},
           {"/download_file/{name}", "GET, HEAD", &Service::DownloadFile},
           {"/", "GET, HEAD", &Service::Page}}),
      attention_jobs_(std::make_shared<std::atomic<int>>(0)),
      small_(std::make_unique<Worker>(kMostSmall)),
      large_(std::make_unique<Worker>(kMostLarge)) {
  if (!public_url_.host.empty()) hosts_.Add(public_url_.host);
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

void Service::Close() {
  small_->Stop();
  large_->Stop();
}

void Service::Handle(const ExchangePtr& exchange) const {
  Attempt(exchange, [&] {
    SetLimit(exchange, 0);
    CheckPlace(exchange->request());
    Dispatch(exchange);
  });
}

void Service::Continue(const ExchangePtr& exchange, const JobPtr& job,
                       std::function<void(const TranslationJob&)> work) const {
  Worker& worker = IsLarge(exchange->request()) || IsLarge(*job) ? *large_ : *small_;
  worker.Continue([exchange, job, work = std::move(work)] {
    if (job->failed || !exchange->Wanted()) return;
    job->failed = !Attempt(exchange, [&] { work(*job); });
    if (job->failed) Cancel(job);
  });
}

void Service::SetLimit(const ExchangePtr& exchange, int64_t deadline_ms) const {
  auto limit = static_cast<int64_t>(options_.request_timeout * 1000);
  if (deadline_ms > 0) limit = std::min(limit, deadline_ms);
  exchange->Limit(std::chrono::milliseconds(limit));
}

void Service::CheckPlace(const HttpRequest& request) const {
  if (!request.host.empty()) {
    const auto host = ParseHostName(request.host);
    if (!host) throw Refusal(400, "the Host is no name or address");
    if (!(request.monitoring ? monitoring_hosts_ : hosts_).Allows(*host)) {
      throw Refusal(421, fmt::format("the host '{}' is not allowed here; the server's "
                                     "--allowed-host or --public-url may name it",
                                     Excerpt(host->name)));
    }
  }
  const std::string& allowed = options_.http.cors_origin;
  const bool may_ask = allowed == "*" || (!allowed.empty() && request.origin == allowed);
  if (request.method == "POST" && LowerCase(request.site) == "cross-site" && !may_ask) {
    throw Refusal(
        403, "pages of other sites may not ask here; the server's --cors-origin may allow one");
  }
}

bool Service::IsHere(const Route& route, const HttpRequest& request) const {
  const bool metrics = route.path == "/metrics";
  if (request.monitoring) return metrics || route.path == "/health";
  return !metrics || options_.http.metrics_address.empty();
}

std::string Service::LinkTo(const std::string& path, const HttpRequest& request) const {
  if (!public_url_.url.empty()) return public_url_.url + path;
  const std::string& host = request.host.empty() ? request.local : request.host;
  return fmt::format("{}://{}{}{}", request.scheme, host, request.prefix, path);
}

void Service::Begin(const ExchangePtr& exchange, const Route& route) const {
  if (stopping_) RefuseWork();
  const HttpRequest& request = exchange->request();
  Worker& worker = IsLarge(request) ? *large_ : *small_;
  if (!worker.HasRoom()) RefuseWork();
  if (route.effort == Effort::kTranslation && !models_->HaveRoom()) RefuseWork();
  if (HeaderTells(route.key, request)) CheckClient(exchange, HeaderKey(request));
  const bool taken = worker.TryBegin([this, exchange, answer = route.answer] {
    if (!exchange->Wanted()) return;
    Attempt(exchange, [&] { (this->*answer)(exchange); });
  });
  if (!taken) RefuseWork();
}

void Service::Dispatch(const ExchangePtr& exchange) const {
  const HttpRequest& request = exchange->request();
  for (const Route& route : routes_) {
    if (!route.Fits(request.path) || !IsHere(route, request)) continue;
    const std::string methods = ", " + route.methods + ", ";
    if (methods.find(", " + request.method + ", ") != std::string::npos) {
      if (route.effort == Effort::kLook) return (this->*route.answer)(exchange);
      return Begin(exchange, route);
    }
    if (request.method == "OPTIONS" && !options_.http.cors_origin.empty()) {
      HttpResponse response{204, ""};
      response.headers = {
          {"Access-Control-Allow-Methods", route.methods},
          {"Access-Control-Allow-Headers", "Content-Type, Authorization, X-Request-Id"},
          {"Access-Control-Max-Age", "600"}};
      return exchange->Answer(std::move(response));
    }
    throw Refusal(405, fmt::format("{} takes {}", route.path, route.methods),
                  {{"Allow", route.methods}});
  }
  throw Refusal(404, "there is nothing here; /openapi.json says what there is");
}

bool Service::HeaderTells(KeyPlace key, const HttpRequest& request) const {
  return key == KeyPlace::kHeader || !keys_->required() || keys_->Allows(HeaderKey(request));
}

// Whoever sends a key that is not known asks as its address: nobody can try many.
void Service::CheckClient(const ExchangePtr& exchange, const std::string& key) const {
  const std::optional<std::string> name = keys_->NameOf(key);
  if (name && keys_->required()) exchange->Describe({.key = *name});
  const std::string& client = name && keys_->required() ? Sha256(key) : exchange->request().network;
  const int64_t seconds = limit_->Take(client, RateLimit::Clock::now());
  if (seconds > 0) {
    throw Refusal(429, fmt::format("too many requests; try again in {} s", seconds),
                  {{"Retry-After", std::to_string(seconds)}});
  }
  if (!name) {
    throw Refusal(403, key.empty() ? "an API key is needed; send it as Authorization: Bearer KEY"
                                   : "the API key is not known");
  }
}

// A body that can't be read counts as well.
RequestBody Service::ReadBody(const ExchangePtr& exchange) const {
  const HttpRequest& request = exchange->request();
  std::optional<RequestBody> body;
  std::exception_ptr fault;
  std::string key;
  try {
    body.emplace(request);
    key = body->Text("api_key", "");
  } catch (const std::exception&) {
    fault = std::current_exception();
  }
  if (!HeaderTells(KeyPlace::kBody, request)) {
    CheckClient(exchange, key.empty() ? HeaderKey(request) : key);
  }
  if (fault) std::rethrow_exception(fault);
  return std::move(*body);
}

std::shared_ptr<void> Service::PlaceForAttention() const {
  const bool room = ++*attention_jobs_ <= kMostWithAttention;
  std::shared_ptr<void> place(attention_jobs_.get(),
                              [taken = attention_jobs_](void*) { --*taken; });
  if (!room) RefuseWork();
  return place;
}

void Service::RefuseWork() const {
  if (stopping_) throw Refusal(503, "the server is stopping", {{"Retry-After", "5"}});
  throw Refusal(503, "too much is waiting; try again later", {{"Retry-After", "1"}});
}

void Service::CheckRoom(const ModelList& models) const {
  for (const auto& model : models) {
    if (!model->queue().HasRoom()) RefuseWork();
  }
}

Service::JobPtr Service::JobFor(const Exchange& exchange, const ModelList& models,
                                const std::vector<size_t>& of_text, std::vector<std::string> texts,
                                const RequestOptions& asked) const {
  return MakeJob(models, of_text, std::move(texts), asked, options_, [&] {
    if (!exchange.Wanted()) throw Refusal(504, "nobody waits for the answer any more");
  });
}

// A job that is not wanted before it is in the queues leaves them again, and so does one that one
// of them has no room for. No event has been sent by then: the worker that would send it is busy
// here.
void Service::Put(const ExchangePtr& exchange, const JobPtr& job) const {
  RequestFacts facts;
  facts.model = NamesOf(job->jobs);
  facts.sentences = job->Sentences();
  facts.source_pieces = job->SourcePieces();
  for (const auto& text : job->texts) {
    if (options_.log_text) facts.text += text.text + '\n';
  }
  exchange->Describe(std::move(facts));
  job->running = job->jobs.size();
  for (ModelJob& part : job->jobs) {
    if (part.sentences.empty()) {
      part.on_end(nullptr);
    } else if (!part.model->queue().TryPut({job, &part})) {
      job->failed = true;
      Cancel(job);
      RefuseWork();
    }
  }
  exchange->OnUnwanted([weak = std::weak_ptr(job)] {
    if (const auto unwanted = weak.lock()) Cancel(unwanted);
  });
}

void Service::Count(const ModelJob& job) const {
  metrics_->Translated(job.model->name(), std::ssize(job.sentences), job.SourcePieces(),
                       job.TargetPieces());
  int64_t spans = 0, kept = 0;
  for (const JobSentence& sentence : job.sentences) {
    const auto& hypotheses = sentence.result.translation.hypotheses;
    if (hypotheses.empty()) continue;
    spans += hypotheses[0].protected_spans;
    kept += hypotheses[0].protected_kept;
  }
  metrics_->Protected(job.model->name(), spans, kept);
  metrics_->Unknown(job.model->name(), job.UnknownCharacters());
}

void Service::Run(const ExchangePtr& exchange, const JobPtr& job, const Finish& finish) const {
  for (ModelJob& part : job->jobs) {
    part.on_end = [this, exchange, weak = std::weak_ptr(job), &part,
                   finish](const std::exception_ptr& error) {
      const JobPtr request = weak.lock();
      if (!error) Count(part);
      if (!error && --request->running > 0) return;
      Continue(exchange, request, [error, finish](const TranslationJob& done) {
        if (error) std::rethrow_exception(error);
        finish(done);
      });
    };
  }
  Put(exchange, job);
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
  exchange->Answer({200, OpenApiDocument(options_, *models_)});
}

}  // namespace attend
