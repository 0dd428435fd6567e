#include <functional>
#include <utility>
#include <vector>

#include "base/json.h"
#include "fuzz/harness.h"
#include "serve/json_request.h"
#include "serve/tasks/language_model/completion_options.h"
#include "serve/tasks/registry.h"

namespace attend {
namespace {

void ReadCompletion(Json body) {
  TakePrompts(&body);
  ReadCompletionOptions(std::move(body));
}

std::vector<std::function<void(Json)>> Readers() {
  std::vector<std::function<void(Json)>> readers = {ReadCompletion};
  for (const EncoderRoute& route : EncoderRoutes()) {
    readers.emplace_back([route](Json body) {
      const EncoderRequest asked = route.read(std::move(body));
      if (!asked.words.empty() && asked.words.size() != asked.texts.size()) std::abort();
    });
  }
  return readers;
}

// Refuses what all of them refuse. Each error is the client's.
void ReadBody(std::string_view json) {
  static const std::vector<std::function<void(Json)>> readers = Readers();
  const Json body = ParseJson(json, "request body");
  std::string refused;
  bool taken = false;
  for (const auto& read : readers) {
    try {
      read(body);
      taken = true;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kRuntime) std::abort();
      refused = error.what();
    }
  }
  if (!taken) throw Error(ErrorKind::kInput, refused);
}

}  // namespace
}  // namespace attend

// A JSON body of the routes that are not translation's.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return attend::ReadForeign(data, size, attend::ErrorKind::kInput, attend::ReadBody);
}
