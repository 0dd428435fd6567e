// Corrections and projects: /v1/corrections and /v1/projects.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_PROJECTS_API_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_PROJECTS_API_H_

#include <string>
#include <vector>

#include "base/json.h"
#include "serve/task_handler.h"
#include "serve/tasks/translation/projects.h"

namespace attend {

// Safe to use from many threads.
class ProjectsApi {
 public:
  explicit ProjectsApi(const HandlerContext& context)
      : context_(context), projects_(context.options, context.models, context.write_event) {}

  // Their answers call this object.
  std::vector<Route> Routes();
  // Adds the routes; their schemas are in translation_openapi.json.
  void Describe(Json* document) const;

 private:
  void Correct(const ExchangePtr& exchange);
  void List(const ExchangePtr& exchange) const;
  // Of one project: tells of it, serves another version of it, deletes it.
  void OfProject(const ExchangePtr& exchange);

  const HandlerContext context_;
  Projects projects_;
};

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_PROJECTS_API_H_
