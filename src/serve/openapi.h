// The OpenAPI description of all routes, made from the same field lists that read the requests.
#ifndef ATTEND_SERVE_OPENAPI_H_
#define ATTEND_SERVE_OPENAPI_H_

#include <string>

#include "serve/model_store.h"
#include "serve/serve_options.h"

namespace attend {

// Of these models: what a request may name is theirs.
std::string OpenApiDocument(const ServeOptions& options, const ModelStore& models);

}  // namespace attend

#endif  // ATTEND_SERVE_OPENAPI_H_
