// The tasks that the service knows.
#ifndef ATTEND_SERVE_TASKS_REGISTRY_H_
#define ATTEND_SERVE_TASKS_REGISTRY_H_

#include <memory>
#include <string>
#include <vector>

#include "base/work_pool.h"
#include "serve/served_model.h"
#include "serve/task_handler.h"
#include "serve/tasks/encoder_handler.h"

namespace attend {

// Starts what runs the model's task. Throws as that does, and Error(kUsage) for a task that is not
// served.
std::shared_ptr<ServedModel> ServeModel(const ModelToServe& model, const ServeOptions& options,
                                        WorkPool* pool);

// The routes of encoders alone.
std::vector<EncoderRoute> EncoderRoutes();

// Of every task one, and what several tasks have.
std::vector<std::unique_ptr<TaskHandler>> TaskHandlers(const HandlerContext& context);

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_REGISTRY_H_
