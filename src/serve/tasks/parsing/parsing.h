// Models of parsing as the service has them: /v1/parse.
#ifndef ATTEND_SERVE_TASKS_PARSING_PARSING_H_
#define ATTEND_SERVE_TASKS_PARSING_PARSING_H_

#include <memory>

#include "base/work_pool.h"
#include "serve/served_model.h"
#include "serve/tasks/encoder_handler.h"

namespace attend {

// Throws as Parser does.
std::shared_ptr<ServedModel> ServeParsing(const ModelToServe& model, const ServeOptions& options,
                                          WorkPool* pool);

EncoderRoute ParsingRoute();

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_PARSING_PARSING_H_
