// The target of a request: where it goes.
#ifndef ATTEND_SERVE_REQUEST_TARGET_H_
#define ATTEND_SERVE_REQUEST_TARGET_H_

#include <string_view>

#include "serve/http_message.h"

namespace attend {

// Sets path and query of the request, and its host where the target names one, as
// http://127.0.0.1:5000/health does (RFC 9112, section 3.2.2). Several slashes of a path count as
// one. False for another form of target.
bool ReadTarget(std::string_view target, HttpRequest* request);

// The id that the client gave where it is 1 to 128 letters, digits and -_.:/+=@, else one of ours.
std::string RequestId(std::string_view given);

}  // namespace attend

#endif  // ATTEND_SERVE_REQUEST_TARGET_H_
