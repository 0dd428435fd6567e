#include "base/json.h"
#include "fuzz/harness.h"
#include "serve/request_body.h"
#include "serve/tasks/translation/request_options.h"

namespace attend {
namespace {

constexpr const char* kLibreTexts[] = {"q", "source", "target", "format", "model", "api_key"};

void ReadLibre(std::string_view json) {
  HttpRequest request;
  request.content_type = "application/json";
  const RequestBody body(request, json);
  body.Number("alternatives");
  for (const char* name : kLibreTexts) body.Text(name, "");
}

// JSON alone, which ReadLibre tests.
void ReadNative(std::string_view json) {
  Json body;
  try {
    body = ParseJson(json, "request body");
  } catch (const Error&) {
    return;
  }
  if (!body.is_object()) return;
  for (const char* name : kLibreTexts) body.erase(name);  // one seed for both
  body.erase("alternatives");
  body.erase("text");
  RequestOptions asked;
  FieldsFromJson(body, Fields(asked), "request body");
}

}  // namespace
}  // namespace attend

// A JSON body of each API.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  attend::ReadForeign(data, size, attend::ErrorKind::kInput, attend::ReadLibre);
  return attend::ReadForeign(data, size, attend::ErrorKind::kConfiguration, attend::ReadNative);
}
