// The OpenAPI description of all routes, made from the same field lists that read the requests.
#ifndef ATTEND_SERVE_OPENAPI_H_
#define ATTEND_SERVE_OPENAPI_H_

#include <string>

#include "serve/serve_options.h"

namespace attend {

std::string OpenApiDocument(const ServeOptions& options);

}  // namespace attend

#endif  // ATTEND_SERVE_OPENAPI_H_
