#include "fuzz/harness.h"
#include "model/config_file.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  return ReadForeign(data, size, ErrorKind::kInput, [](std::string_view text) {
    const ConfigFile config = ParseConfigFile(text, "config.json");
    // Nothing that it says is lost.
    const Json read = ParseJson(text, "config.json")["model"],
               written = ModelConfigToJson(config.model);
    for (const auto& [name, value] : read.items())
      if (!written.contains(name)) std::abort();
  });
}
