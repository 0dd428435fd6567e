// From a request to the handler of its route: hosts, keys, limits, deadlines, and the threads that
// answer.
#ifndef ATTEND_SERVE_ROUTER_H_
#define ATTEND_SERVE_ROUTER_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "serve/api_keys.h"
#include "serve/host_names.h"
#include "serve/http_message.h"
#include "serve/model_store.h"
#include "serve/rate_limit.h"
#include "serve/refusal.h"
#include "serve/request_body.h"
#include "serve/worker.h"

namespace attend {

using ExchangePtr = std::shared_ptr<Exchange>;

// What an answer takes: nothing that takes time, a worker to read the request, a model as well.
enum class Effort { kLook, kReading, kModel };
// Where a client's key stands: LibreTranslate's clients send it in the body as well.
enum class KeySource { kHeader, kBody };

struct Route {
  std::string path, methods;  // {name} at the end of a path stands for anything
  std::function<void(const ExchangePtr&)> answer;
  Effort effort = Effort::kLook;
  KeySource key = KeySource::kHeader;
  ErrorForm errors = ErrorForm::kPlain;
  bool takes_files = false;  // pictures, recordings or documents: bodies may be uploads

  bool Fits(const std::string& asked) const;
};

// Safe to use from many threads. What it is given must outlive it. Whatever takes longer than a
// look is done by its workers: one for what is small, so that none waits behind what is large, a
// long text or an answer with attention.
class Router {
 public:
  Router(const ServeOptions& options, const ModelStore* models, const ApiKeys* keys);
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  // Before the first request.
  void Add(std::vector<Route> routes);

  void Handle(const ExchangePtr& exchange) const;
  // From now on nothing new is taken.
  void Stop() { stopping_ = true; }
  bool stopping() const { return stopping_; }
  // Lets go of the exchanges that wait for a worker. To be called before the models are stopped,
  // whose jobs come back to the handlers: it ends after them.
  void Close();
  // The path where it is one of ours, or "other": what log and metrics may hold.
  std::string RouteOf(const HttpRequest& request) const;
  // Of a path, ours or not.
  ErrorForm ErrorsAt(const std::string& path) const;
  bool TakesFilesAt(const std::string& path) const;

  // For handlers.
  // Has a worker go on with a request, the one for what is large if the body or `large` says so.
  // `work` must not throw.
  void Continue(const ExchangePtr& exchange, bool large, std::function<void()> work) const;
  // The server's own limit, or the deadline where that comes first; 0: none.
  void SetLimit(const ExchangePtr& exchange, int64_t deadline_ms) const;
  // Of a route whose key may stand in the body; checks the client by it where the header did not
  // tell.
  RequestBody ReadBody(const ExchangePtr& exchange) const;
  // `path` as the client reaches it.
  std::string LinkTo(const std::string& path, const HttpRequest& request) const;
  // Throws Refusal: the server stops, or too much waits.
  [[noreturn]] void RefuseWork() const;

 private:
  const Route* Find(const std::string& path) const;  // null: it is none of ours
  void Dispatch(const ExchangePtr& exchange) const;
  // Has a worker answer, or refuses at once.
  void Begin(const ExchangePtr& exchange, const Route& route) const;
  // Whether no body can tell more of a client than the header does.
  bool HeaderTells(KeySource key, const HttpRequest& request) const;
  // Throws Refusal where the key is not known or the client asks too much. Counts the request: to
  // be called once, before a worker is troubled where the header tells.
  void CheckClient(const ExchangePtr& exchange, const std::string& key) const;
  // Throws Refusal for a Host that is not ours, or a page of another site that may not ask.
  void CheckHost(const HttpRequest& request) const;
  // Whether a page of another site sends it. Ports make no other site.
  bool IsFromOtherSite(const HttpRequest& request) const;
  bool IsHere(const Route& route, const HttpRequest& request) const;

  const ServeOptions& options_;
  const ModelStore* models_;
  const ApiKeys* keys_;
  const PublicUrl public_url_;
  AllowedHosts hosts_, monitoring_hosts_;
  const std::unique_ptr<RateLimit> limit_;
  std::vector<Route> routes_;
  std::atomic<bool> stopping_{false};
  const std::unique_ptr<Worker> small_, large_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_ROUTER_H_
