// The OpenAPI description of the routes that translate, made from the same field lists that read
// the requests.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_TRANSLATION_OPENAPI_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_TRANSLATION_OPENAPI_H_

#include "base/json.h"
#include "serve/model_store.h"
#include "serve/serve_options.h"
#include "serve/tasks/translation/memories.h"
#include "serve/tasks/translation/served_glossaries.h"

namespace attend {

// Adds to the description. Of these models: what a request may name is theirs.
void DescribeTranslation(const ServeOptions& options, const ModelStore& models,
                         const ServedGlossaries& glossaries, const Memories& memories,
                         Json* document);

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_TRANSLATION_OPENAPI_H_
