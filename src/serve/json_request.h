// Requests in JSON.
#ifndef ATTEND_SERVE_JSON_REQUEST_H_
#define ATTEND_SERVE_JSON_REQUEST_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/json.h"
#include "serve/http_message.h"

namespace attend {

// In a request. Each may take 100 bytes of memory, though it has 2 in the body.
inline constexpr size_t kMostJsonValues = 1 << 20;

// Takes the body. Throws Refusal 415 for another type, Error(kInput) for a query, bad syntax
// or too many values.
Json ReadJsonRequest(Exchange* exchange);

// "a number", "a list": for errors.
std::string KindOf(const Json& value);

// Removes the member, a text or a list of texts. Throws Error(kInput) where `body` is no object,
// and where the member is missing or another thing.
std::vector<std::string> TakeTexts(Json* body, const std::string& name);

}  // namespace attend

#endif  // ATTEND_SERVE_JSON_REQUEST_H_
