// The descriptions that the build put into the program.
#ifndef ATTEND_SERVE_OPENAPI_FILES_H_
#define ATTEND_SERVE_OPENAPI_FILES_H_

#include <span>

#include "web/web_files.h"

namespace attend {

std::span<const WebFile> OpenApiFiles();

}  // namespace attend

#endif  // ATTEND_SERVE_OPENAPI_FILES_H_
