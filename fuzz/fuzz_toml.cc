#include "cli/command_line.h"
#include "fuzz/harness.h"
#include "model/config_fields.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  return ReadForeign(data, size, ErrorKind::kConfiguration, [](std::string_view text) {
    ModelConfig config;
    FieldsFromToml(text.substr(0, kMaxTomlBytes), Fields(config), "recipe.toml");
  });
}
