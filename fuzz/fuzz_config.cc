#include "fuzz/harness.h"
#include "model/config_file.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  return ReadForeign(data, size, ErrorKind::kInput, [](std::string_view text) {
    const ConfigFile config = ParseConfigFile(text, "config.json");
    Json again = ParseJson(text, "config.json");
    if (ModelConfigToJson(config.model).size() != again["model"].size()) std::abort();
  });
}
