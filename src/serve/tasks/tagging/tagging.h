// Models of tagging as the service has them: /v1/tag.
#ifndef ATTEND_SERVE_TASKS_TAGGING_TAGGING_H_
#define ATTEND_SERVE_TASKS_TAGGING_TAGGING_H_

#include <memory>

#include "base/work_pool.h"
#include "serve/served_model.h"
#include "serve/task_handler.h"

namespace attend {

// Throws as Tagger does.
std::shared_ptr<ServedModel> ServeTagging(const ModelToServe& model, const ServeOptions& options,
                                          WorkPool* pool);

std::unique_ptr<TaskHandler> TaggingHandler(const HandlerContext& context);

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TAGGING_TAGGING_H_
