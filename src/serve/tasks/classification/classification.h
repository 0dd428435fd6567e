// Models of classification as the service has them: /v1/classify.
#ifndef ATTEND_SERVE_TASKS_CLASSIFICATION_CLASSIFICATION_H_
#define ATTEND_SERVE_TASKS_CLASSIFICATION_CLASSIFICATION_H_

#include <memory>

#include "base/work_pool.h"
#include "serve/served_model.h"
#include "serve/tasks/encoder_handler.h"

namespace attend {

// Throws as Classifier does.
std::shared_ptr<ServedModel> ServeClassification(const ModelToServe& model,
                                                 const ServeOptions& options, WorkPool* pool);

EncoderRoute ClassificationRoute();

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_CLASSIFICATION_CLASSIFICATION_H_
