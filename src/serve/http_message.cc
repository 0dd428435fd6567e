#include "serve/http_message.h"

#include <fmt/format.h>

#include "base/excerpt.h"
#include "base/json.h"

namespace attend {

HttpResponse ErrorResponse(int status, const std::string& message, HttpHeaders headers) {
  Json body;
  body["error"] = Printable(message);
  HttpResponse response{status, Dump(body)};
  response.headers = std::move(headers);
  return response;
}

HttpResponse BusyResponse(const std::string& message, int seconds) {
  return ErrorResponse(503, message, {{"Retry-After", std::to_string(seconds)}});
}

std::string ToEvent(const std::string& name, const std::string& data) {
  return (name.empty() ? "" : fmt::format("event: {}\n", name)) + fmt::format("data: {}\n\n", data);
}

}  // namespace attend
