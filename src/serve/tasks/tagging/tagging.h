// Models of tagging as the service has them: /v1/tag.
#ifndef ATTEND_SERVE_TASKS_TAGGING_TAGGING_H_
#define ATTEND_SERVE_TASKS_TAGGING_TAGGING_H_

#include <memory>

#include "base/work_pool.h"
#include "serve/served_model.h"
#include "serve/tasks/encoder_handler.h"

namespace attend {

// Throws as Tagger does.
std::shared_ptr<ServedModel> ServeTagging(const ModelToServe& model, const ServeOptions& options,
                                          WorkPool* pool);

EncoderRoute TaggingRoute();

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TAGGING_TAGGING_H_
