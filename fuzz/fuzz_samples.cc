#include "attend/model_config.h"
#include "fuzz/harness.h"
#include "model/sample.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  return ReadForeign(data, size, ErrorKind::kInput, [](std::string_view text) {
    ModelConfig config;
    config.source_vocab_size = config.target_vocab_size = 52;
    for (const Sample& sample : SamplesFromJson(ParseJson(text, "f"), config, "f")) {
      for (const int32_t id : sample.source_ids) {
        if (id < 0 || id >= 52) std::abort();
      }
    }
  });
}
