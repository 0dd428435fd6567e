// Language models as the service has them: the OpenAI API's completions.
#ifndef ATTEND_SERVE_TASKS_LANGUAGE_MODEL_LANGUAGE_MODEL_H_
#define ATTEND_SERVE_TASKS_LANGUAGE_MODEL_LANGUAGE_MODEL_H_

#include <memory>

#include "base/work_pool.h"
#include "serve/served_model.h"
#include "serve/task_handler.h"

namespace attend {

// Throws as ServedGenerator does.
std::shared_ptr<ServedModel> ServeLanguageModel(const ModelToServe& model,
                                                const ServeOptions& options, WorkPool* pool);

std::unique_ptr<TaskHandler> LanguageModelHandler(const HandlerContext& context);

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_LANGUAGE_MODEL_LANGUAGE_MODEL_H_
