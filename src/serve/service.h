// All that the server answers: its own routes, and those of every task.
#ifndef ATTEND_SERVE_SERVICE_H_
#define ATTEND_SERVE_SERVICE_H_

#include <memory>
#include <vector>

#include "serve/metrics.h"
#include "serve/router.h"
#include "serve/task_handler.h"

namespace attend {

class Service : public Router {
 public:
  Service(
      const ServeOptions& options, ModelStore* models, const ApiKeys* keys, Metrics* metrics,
      const WriteEvent& write_event = [](const char*, const Json&, bool) {});
  ~Service() { Close(); }

  // What Router::Close does, for all that handlers run too.
  void Close();

 private:
  void Health(const ExchangePtr& exchange) const;
  void MetricsText(const ExchangePtr& exchange) const;
  void OpenApi(const ExchangePtr& exchange) const;
  void Model(const ExchangePtr& exchange) const;
  void Models(const ExchangePtr& exchange) const;
  // The page for people, and what it loads.
  void Page(const ExchangePtr& exchange) const;

  const ServeOptions& options_;
  ModelStore* models_;
  Metrics* metrics_;
  std::vector<std::unique_ptr<TaskHandler>> handlers_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_SERVICE_H_
