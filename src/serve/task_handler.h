// What a task gives the service: routes and their description.
#ifndef ATTEND_SERVE_TASK_HANDLER_H_
#define ATTEND_SERVE_TASK_HANDLER_H_

#include <functional>
#include <memory>
#include <vector>

#include "base/json.h"
#include "serve/api_keys.h"
#include "serve/metrics.h"
#include "serve/model_store.h"
#include "serve/router.h"
#include "serve/serve_options.h"

namespace attend {

// Writes an event with its members to the log; `warning`: something went wrong.
using WriteEvent = std::function<void(const char* event, const Json& members, bool warning)>;

// What handlers work with; it outlives them.
struct HandlerContext {
  const ServeOptions& options;
  const ModelStore& models;
  const ApiKeys& keys;
  Metrics& metrics;
  const Router& router;
  WriteEvent write_event;
};

// Safe to use from many threads.
class TaskHandler {
 public:
  virtual ~TaskHandler() = default;
  // Their answers call this handler.
  virtual std::vector<Route> Routes() = 0;
  // Adds them and their schemas to the OpenAPI description, for the models that there are now.
  virtual void Describe(Json* document) const = 0;
  // Ends threads of its own, and lets go of the exchanges that they have.
  virtual void Close() {}
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASK_HANDLER_H_
