#include "serve/json_request.h"

#include <fmt/format.h>

#include <utility>

#include "attend/error.h"
#include "serve/refusal.h"
#include "serve/request_body.h"

namespace attend {

Json ReadJsonRequest(Exchange* exchange) {
  const HttpRequest& request = exchange->request();
  if (MediaTypeOf(request) != "application/json") {
    throw Refusal(415, "expected Content-Type: application/json");
  }
  if (!request.query.empty()) {
    throw Error(ErrorKind::kInput,
                fmt::format("request: {} takes no query; send all in the body", request.path));
  }
  return ParseJson(exchange->TakeBody(), "request body", kMostJsonValues);
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
  Json given = std::move(*found);
  body->erase(name);
  std::vector<std::string> texts;
  const auto take = [&](Json& item) {
    if (!item.is_string()) {
      refuse(fmt::format("{} {} {}, expected a text or a list of texts", name,
                         given.is_array() ? "holds" : "is", KindOf(item)));
    }
    texts.push_back(std::move(item.get_ref<std::string&>()));
  };
  if (given.is_array()) {
    for (Json& item : given) take(item);
  } else {
    take(given);
  }
  return texts;
}

}  // namespace attend
