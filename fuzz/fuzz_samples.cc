#include <cstddef>
#include <vector>

#include "attend/model_config.h"
#include "fuzz/harness.h"
#include "model/sample.h"

namespace attend {
namespace {

// Of a translation model, or of an encoder that labels tokens as the seeds' tagger does.
ModelConfig ConfigOf(bool labels) {
  ModelConfig config;
  config.source_vocab_size = config.target_vocab_size = labels ? 400 : 52;
  if (!labels) return config;
  config.decoder.reset();
  config.head = HeadKind::kLabels;
  config.labels.resize(25, "A");
  return config;
}

void Check(const std::vector<int32_t>& ids, int64_t size) {
  for (const int32_t id : ids) {
    if (id < 0 || id >= size) std::abort();
  }
}

}  // namespace
}  // namespace attend

// A blank at the beginning chooses the model: JSON takes it.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  return ReadForeign(data, size, ErrorKind::kInput, [](std::string_view text) {
    const ModelConfig config = ConfigOf(text.starts_with(' '));
    for (const Sample& sample : SamplesFromJson(ParseJson(text, "f"), config, "f")) {
      Check(sample.source_ids, config.source_vocab_size);
      Check(sample.target_ids, config.head_width());
    }
  });
}
