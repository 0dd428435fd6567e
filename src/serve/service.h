// The routes: from a request to an answer.
#ifndef ATTEND_SERVE_SERVICE_H_
#define ATTEND_SERVE_SERVICE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "serve/api_keys.h"
#include "serve/host_names.h"
#include "serve/http_message.h"
#include "serve/metrics.h"
#include "serve/model_choice.h"
#include "serve/model_store.h"
#include "serve/rate_limit.h"
#include "serve/request_body.h"
#include "serve/source_texts.h"
#include "serve/translated_files.h"
#include "serve/translation_job.h"
#include "serve/worker.h"

namespace attend {

// An answer that is not the one asked for.
class Refusal : public std::runtime_error {
 public:
  Refusal(int status, const std::string& message, HttpHeaders headers = {})
      : std::runtime_error(message), status(status), headers(std::move(headers)) {}
  const int status;
  const HttpHeaders headers;
};

// What one of LibreTranslate's routes is to translate.
struct LibreRequest {
  std::vector<std::string> texts;
  bool html = false;
  std::string model, source, target;
  int64_t alternatives = 0;
  Priority priority = Priority::kAuto;
};

// What its end becomes; `request` without its texts.
using LibreAnswer =
    std::function<HttpResponse(const LibreRequest& request, const TranslationJob& job,
                               const SourceTexts& texts, const ModelChoice& choice)>;

// Safe to use from many threads. What it is given must outlive it. Whatever takes longer than a
// look is done by its workers: one for what is small, so that none waits behind what is large, a
// long text or an answer with attention.
class Service {
 public:
  Service(const ServeOptions& options, ModelStore* models, const ApiKeys* keys, Metrics* metrics);

  void Handle(const std::shared_ptr<Exchange>& exchange) const;
  // From now on nothing new is taken.
  void Stop() { stopping_ = true; }
  // Lets go of the exchanges that wait for a worker. To be called before the models are stopped,
  // whose jobs come back to the service: it ends after them.
  void Close();
  // The path where it is one of ours, or "other": what log and metrics may hold.
  std::string RouteOf(const HttpRequest& request) const;

 private:
  using ExchangePtr = std::shared_ptr<Exchange>;
  using JobPtr = std::shared_ptr<TranslationJob>;
  // What an answer takes.
  enum class Effort { kLook, kReading, kTranslation };
  // Where a client's key stands; those of LibreTranslate send it in the body as well.
  enum class KeyPlace { kHeader, kBody };
  struct Route {
    std::string path, methods;  // {name} at the end of a path stands for anything
    void (Service::*answer)(const ExchangePtr&) const;
    Effort effort = Effort::kLook;
    KeyPlace key = KeyPlace::kHeader;
    bool Fits(const std::string& asked) const;
  };
  using ModelList = std::vector<std::shared_ptr<ServedModel>>;
  // Answers with a translation that has ended. Called once, by a worker.
  using Finish = std::function<void(const TranslationJob&)>;

  void Dispatch(const ExchangePtr& exchange) const;
  // Has a worker answer, or refuses at once.
  void Begin(const ExchangePtr& exchange, const Route& route) const;
  // Has a worker go on with a job's request. What it throws ends the job, and is the answer.
  void Continue(const ExchangePtr& exchange, const JobPtr& job,
                std::function<void(const TranslationJob&)> work) const;
  void SetLimit(const ExchangePtr& exchange, int64_t deadline_ms) const;
  // Whether no body can tell more of a client than the header does.
  bool HeaderTells(KeyPlace key, const HttpRequest& request) const;
  // Throws Refusal where the key is not known or the client asks too much. Counts the request: to
  // be called once, before a worker is troubled where the header tells.
  void CheckClient(const ExchangePtr& exchange, const std::string& key) const;
  // Of LibreTranslate's routes; checks the client by the key in it where the header did not tell.
  RequestBody ReadBody(const ExchangePtr& exchange) const;
  // Throws Refusal for a Host that is not ours, or a page of another site that may not ask.
  void CheckPlace(const HttpRequest& request) const;
  bool IsHere(const Route& route, const HttpRequest& request) const;
  // `path` as the client reaches it.
  std::string LinkTo(const std::string& path, const HttpRequest& request) const;
  // To be held by a job with attention and its answer. Throws Refusal where too many have one.
  std::shared_ptr<void> PlaceForAttention() const;
  // Throws Refusal where the queue of one of them has no room for a sentence.
  void CheckRoom(const ModelList& models) const;
  [[noreturn]] void RefuseWork() const;
  // A job for these texts. Throws Refusal once nobody waits for it any more, and as MakeJob.
  JobPtr JobFor(const Exchange& exchange, const ModelList& models,
                const std::vector<size_t>& of_text, std::vector<std::string> texts,
                const RequestOptions& asked) const;
  void Run(const ExchangePtr& exchange, const JobPtr& job, const Finish& finish) const;
  void Stream(const ExchangePtr& exchange, const JobPtr& job) const;
  void Put(const ExchangePtr& exchange, const JobPtr& job) const;
  void Count(const ModelJob& job) const;

  void Health(const ExchangePtr& exchange) const;
  void MetricsText(const ExchangePtr& exchange) const;
  void OpenApi(const ExchangePtr& exchange) const;
  // The page for people, and what it loads.
  void Page(const ExchangePtr& exchange) const;
  // The native API.
  void Models(const ExchangePtr& exchange) const;
  void TranslateNative(const ExchangePtr& exchange) const;
  void CheckFile(const ExchangePtr& exchange) const;
  // LibreTranslate's.
  void Languages(const ExchangePtr& exchange) const;
  void FrontendSettings(const ExchangePtr& exchange) const;
  void Detect(const ExchangePtr& exchange) const;
  void Suggest(const ExchangePtr& exchange) const;
  void TranslateLibre(const ExchangePtr& exchange) const;
  void TranslateFile(const ExchangePtr& exchange) const;
  void DownloadFile(const ExchangePtr& exchange) const;
  // What both of them do; `answer` is called once.
  void TranslateTexts(const ExchangePtr& exchange, LibreRequest request, LibreAnswer answer) const;

  const ServeOptions& options_;
  ModelStore* models_;
  const ApiKeys* keys_;
  Metrics* metrics_;
  const PublicUrl public_url_;
  AllowedHosts hosts_, monitoring_hosts_;
  const std::unique_ptr<RateLimit> limit_;
  const std::unique_ptr<TranslatedFiles> files_;
  std::vector<Route> routes_;
  std::atomic<bool> stopping_{false};
  const std::shared_ptr<std::atomic<int>> attention_jobs_;  // jobs may outlive the service
  const std::unique_ptr<Worker> small_, large_;
};

// The answer for what a handler or an engine threw.
HttpResponse ResponseTo(const std::exception_ptr& error);

}  // namespace attend

#endif  // ATTEND_SERVE_SERVICE_H_
