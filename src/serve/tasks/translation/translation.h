// Translation as the service has it: native API, and LibreTranslate's.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_TRANSLATION_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_TRANSLATION_H_

#include <memory>

#include "base/work_pool.h"
#include "serve/served_model.h"
#include "serve/task_handler.h"

namespace attend {

// Throws as ServedTranslator does.
std::shared_ptr<ServedModel> ServeTranslation(const ModelToServe& model,
                                              const ServeOptions& options, WorkPool* pool);

std::unique_ptr<TaskHandler> TranslationHandler(const HandlerContext& context);

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_TRANSLATION_H_
