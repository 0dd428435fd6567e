#include "serve/router.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "attend/error.h"
#include "base/excerpt.h"
#include "base/sha256.h"
#include "text/ascii.h"

namespace attend {
namespace {

// Bytes of a body from which on it is a large one.
constexpr size_t kLargeBody = 16384;
// Requests that wait for their worker. Small ones take it a moment each, large ones up to seconds.
constexpr size_t kMostSmall = 256, kMostLarge = 16;

bool IsLarge(const Exchange& exchange) { return exchange.body_bytes() >= kLargeBody; }

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

}  // namespace

Router::Router(const ServeOptions& options, const ModelStore* models, const ApiKeys* keys)
    : options_(options),
      models_(models),
      keys_(keys),
      public_url_(ParsePublicUrl(options.public_url)),
      hosts_(options.allowed_host, options.http.host),
      monitoring_hosts_({}, HostOf(options.http.metrics_address)),
      limit_(std::make_unique<RateLimit>(options.request_limit)),
      small_(std::make_unique<Worker>(kMostSmall)),
      large_(std::make_unique<Worker>(kMostLarge)) {
  if (!public_url_.host.empty()) hosts_.Add(public_url_.host);
}

void Router::Add(std::vector<Route> routes) {
  std::move(routes.begin(), routes.end(), std::back_inserter(routes_));
}

bool Route::Fits(const std::string& asked) const {
  const size_t name = path.find('{');
  return name == std::string::npos ? asked == path : asked.starts_with(path.substr(0, name));
}

const Route* Router::Find(const std::string& path) const {
  const auto found =
      std::ranges::find_if(routes_, [&](const Route& route) { return route.Fits(path); });
  return found == routes_.end() ? nullptr : &*found;
}

std::string Router::RouteOf(const HttpRequest& request) const {
  const Route* route = Find(request.path);
  return route != nullptr ? route->path : "other";
}

ErrorForm Router::ErrorsAt(const std::string& path) const {
  const Route* route = Find(path);
  return route != nullptr ? route->errors : ErrorForm::kPlain;
}

bool Router::TakesFilesAt(const std::string& path) const {
  const Route* route = Find(path);
  return route != nullptr && route->takes_files;
}

void Router::Close() {
  small_->Stop();
  large_->Stop();
}

void Router::Handle(const ExchangePtr& exchange) const {
  Attempt(exchange, [&] {
    SetLimit(exchange, 0);
    CheckHost(exchange->request());
    Dispatch(exchange);
  });
}

void Router::Continue(const ExchangePtr& exchange, bool large, std::function<void()> work) const {
  Worker& worker = large || IsLarge(*exchange) ? *large_ : *small_;
  worker.Continue(std::move(work));
}

void Router::SetLimit(const ExchangePtr& exchange, int64_t deadline_ms) const {
  auto limit = static_cast<int64_t>(options_.request_timeout * 1000);
  if (deadline_ms > 0) limit = std::min(limit, deadline_ms);
  exchange->Limit(std::chrono::milliseconds(limit));
}

void Router::CheckHost(const HttpRequest& request) const {
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
  if (request.method == "POST" && IsFromOtherSite(request) && !may_ask) {
    throw Refusal(
        403, "pages of other sites may not ask here; the server's --cors-origin may allow one");
  }
}

// Browsers tell no site where they ask without encryption at another address than loopback.
bool Router::IsFromOtherSite(const HttpRequest& request) const {
  if (!request.site.empty()) return LowerCase(request.site) == "cross-site";
  if (request.origin.empty()) return false;
  const size_t scheme = request.origin.find("://");
  if (scheme == std::string::npos) return true;  // null: of a file, or a page in a sandbox
  const auto page = ParseHostName(std::string_view(request.origin).substr(scheme + 3));
  const auto asked = ParseHostName(request.host);
  if (!page || page->name == public_url_.host) return !page;
  return !asked || page->name != asked->name;
}

bool Router::IsHere(const Route& route, const HttpRequest& request) const {
  const bool metrics = route.path == "/metrics";
  if (request.monitoring) return metrics || route.path == "/health";
  return !metrics || options_.http.metrics_address.empty();
}

std::string Router::LinkTo(const std::string& path, const HttpRequest& request) const {
  if (!public_url_.url.empty()) return public_url_.url + path;
  const std::string& host = request.host.empty() ? request.local : request.host;
  return fmt::format("{}://{}{}{}", request.scheme, host, request.prefix, path);
}

void Router::Begin(const ExchangePtr& exchange, const Route& route) const {
  if (stopping_) RefuseWork();
  const HttpRequest& request = exchange->request();
  Worker& worker = IsLarge(*exchange) ? *large_ : *small_;
  if (!worker.HasRoom()) RefuseWork();
  if (route.effort == Effort::kModel && !models_->HaveRoom()) RefuseWork();
  if (HeaderTells(route.key, request)) CheckClient(exchange, HeaderKey(request));
  const bool taken = worker.TryBegin([this, exchange, answer = route.answer] {
    if (!exchange->Wanted()) return;
    Attempt(exchange, [&] { answer(exchange); });
  });
  if (!taken) RefuseWork();
}

void Router::Dispatch(const ExchangePtr& exchange) const {
  const HttpRequest& request = exchange->request();
  for (const Route& route : routes_) {
    if (!route.Fits(request.path) || !IsHere(route, request)) continue;
    const std::string methods = ", " + route.methods + ", ";
    if (methods.find(", " + request.method + ", ") != std::string::npos) {
      if (route.effort == Effort::kLook) return route.answer(exchange);
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

bool Router::HeaderTells(KeySource key, const HttpRequest& request) const {
  return key == KeySource::kHeader || !keys_->required() || keys_->Allows(HeaderKey(request));
}

// Whoever sends a key that is not known asks as its address: nobody can try many.
void Router::CheckClient(const ExchangePtr& exchange, const std::string& key) const {
  const std::optional<std::string> name = keys_->NameOf(key);
  if (name && keys_->required()) exchange->Describe({.key = *name});
  const std::string& client = name && keys_->required() ? Sha256(key) : exchange->request().network;
  const int64_t seconds = limit_->Take(client, RateLimit::Clock::now());
  if (seconds > 0) {
    throw Refusal(429, fmt::format("too many requests; try again in {} s", seconds),
                  {{"Retry-After", std::to_string(seconds)}});
  }
  if (name) return;
  const char* why = key.empty() ? "an API key is needed; send it as Authorization: Bearer KEY"
                                : "the API key is not known";
  if (exchange->request().errors == ErrorForm::kPlain) throw Refusal(403, why);
  throw Refusal(401, why, {{"WWW-Authenticate", "Bearer"}});
}

// A body that can't be read counts as well.
RequestBody Router::ReadBody(const ExchangePtr& exchange) const {
  const HttpRequest& request = exchange->request();
  const std::string bytes = exchange->TakeBody();
  std::optional<RequestBody> body;
  std::exception_ptr fault;
  std::string key;
  try {
    body.emplace(request, bytes);
    key = body->Text("api_key", "");
  } catch (const std::exception&) {
    fault = std::current_exception();
  }
  if (!HeaderTells(KeySource::kBody, request)) {
    CheckClient(exchange, key.empty() ? HeaderKey(request) : key);
  }
  if (fault) std::rethrow_exception(fault);
  return std::move(*body);
}

void Router::RefuseWork() const {
  if (stopping_) throw Refusal(503, "the server is stopping", {{"Retry-After", "5"}});
  throw Refusal(503, "too much is waiting; try again later", {{"Retry-After", "1"}});
}

}  // namespace attend
