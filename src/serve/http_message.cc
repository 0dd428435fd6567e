#include "serve/http_message.h"

#include <fmt/format.h>

#include "base/excerpt.h"
#include "base/json.h"

namespace attend {
namespace {

const char* OpenAiErrorType(int status) {
  if (status >= 500) return "server_error";
  return status == 429 ? "rate_limit_error" : "invalid_request_error";
}

}  // namespace

HttpResponse ErrorResponse(ErrorForm form, int status, const std::string& message,
                           HttpHeaders headers) {
  Json body;
  body["error"] = Printable(message);
  if (form == ErrorForm::kOpenAi) {
    body["error"] = {{"message", Printable(message)},
                     {"type", OpenAiErrorType(status)},
                     {"param", nullptr},
                     {"code", nullptr}};
  }
  HttpResponse response{status, Dump(body)};
  response.headers = std::move(headers);
  return response;
}

HttpResponse BusyResponse(ErrorForm form, const std::string& message, int seconds) {
  return ErrorResponse(form, 503, message, {{"Retry-After", std::to_string(seconds)}});
}

std::string ToEvent(const std::string& name, const std::string& data) {
  return (name.empty() ? "" : fmt::format("event: {}\n", name)) + fmt::format("data: {}\n\n", data);
}

}  // namespace attend
