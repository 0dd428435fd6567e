// Masked language models as the service has them: /v1/fill, where they have a vocabulary to fill
// from.
#ifndef ATTEND_SERVE_TASKS_MASKED_LANGUAGE_MODEL_MASKED_LANGUAGE_MODEL_H_
#define ATTEND_SERVE_TASKS_MASKED_LANGUAGE_MODEL_MASKED_LANGUAGE_MODEL_H_

#include <memory>

#include "base/work_pool.h"
#include "serve/served_model.h"
#include "serve/tasks/encoder_handler.h"

namespace attend {

// Throws as TextEncoder does.
std::shared_ptr<ServedModel> ServeMaskedLanguageModel(const ModelToServe& model,
                                                      const ServeOptions& options, WorkPool* pool);

EncoderRoute MaskedLanguageModelRoute();

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_MASKED_LANGUAGE_MODEL_MASKED_LANGUAGE_MODEL_H_
