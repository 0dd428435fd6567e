#include "serve/json_request.h"

#include <fmt/format.h>

#include <utility>

#include "attend/error.h"
#include "serve/refusal.h"
#include "serve/request_body.h"

namespace attend {

Json ReadJsonRequest(const HttpRequest& request) {
  if (MediaTypeOf(request) != "application/json") {
    throw Refusal(415, "expected Content-Type: application/json");
  }
  if (!request.query.empty()) {
    throw Error(ErrorKind::kInput,
                fmt::format("request: {} takes no query; send all in the body", request.path));
  }
  return ParseJson(request.body, "request body");
}

std::string KindOf(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "a list";
    case Json::value_t::string:
      return "a text";
    case Json::value_t::boolean:
      return "a boolean";
    default:
      return "a number";
  }
}

std::vector<std::string> TakeTexts(Json* body, const std::string& name) {
  const auto refuse = [](const std::string& message) {
    throw Error(ErrorKind::kInput, "request body: " + message);
  };
  const auto found = body->find(name);
  if (found == body->end()) refuse("expected an object with " + name);
  const Json given = std::move(*found);
  body->erase(name);
  std::vector<std::string> texts;
  for (const Json& item : given.is_array() ? given : Json::array({given})) {
    if (!item.is_string()) {
      refuse(fmt::format("{} {} {}, expected a text or a list of texts", name,
                         given.is_array() ? "holds" : "is", KindOf(item)));
    }
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

}  // namespace attend
