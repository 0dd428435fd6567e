#include <algorithm>
#include <cstddef>
#include <vector>

#include "attend/model_config.h"
#include "fuzz/harness.h"
#include "model/sample.h"

namespace attend {
namespace {

// An encoder that labels tokens as the seeds' tagger does.
ModelConfig Labelling() {
  ModelConfig config;
  config.source_vocab_size = config.target_vocab_size = 400;
  config.decoder.reset();
  config.head = HeadKind::kLabels;
  config.labels.resize(25, "A");
  return config;
}

// One that labels grey pictures of 2 by 2 pixels, or items with such a picture.
ModelConfig OfPictures(bool items) {
  ModelConfig config = Labelling();
  config.input = items ? InputKind::kItems : InputKind::kPatches;
  config.pooling = Pooling::kFirst;
  const PatchInput patches{.height = 2, .width = 2, .channels = 1, .patch = 1};
  if (!items) config.patches = patches;
  if (items) {
    config.fusion.emplace();
    config.fusion->patches = patches;
    config.fusion->nodes = {"barn", "house"};
    config.fusion->shared_width = 2;
  }
  return config;
}

// Of a translation model, of one of the above, or of a model of sound.
ModelConfig ConfigOf(size_t kind) {
  if (kind == 1) return Labelling();
  if (kind == 2 || kind == 3) return OfPictures(/*items=*/kind == 3);
  ModelConfig config;
  config.source_vocab_size = config.target_vocab_size = 52;
  if (kind < 4) return config;
  config.input = InputKind::kFrames;
  config.frames.emplace();
  return config;
}

void Check(const std::vector<int32_t>& ids, int64_t size) {
  for (const int32_t id : ids) {
    if (id < 0 || id >= size) std::abort();
  }
}

void CheckSample(const Sample& sample, const ModelConfig& config) {
  Check(sample.source_ids, config.source_vocab_size);
  Check(sample.target_ids, config.head_width());
  if (config.patches && std::ssize(sample.pixels) != config.patches->bytes()) std::abort();
  if (config.frames && sample.sound.empty()) std::abort();
  if (!config.fusion) return;
  Check(*sample.nodes, std::ssize(config.fusion->nodes));
  if (!sample.pixels.empty() && std::ssize(sample.pixels) != config.fusion->patches.bytes())
    std::abort();
}

}  // namespace
}  // namespace attend

// The number of blanks at the beginning chooses the model: JSON takes them.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  return ReadForeign(data, size, ErrorKind::kInput, [](std::string_view text) {
    const ModelConfig config = ConfigOf(std::min(text.find_first_not_of(' '), text.size()));
    for (const Sample& sample : SamplesFromJson(ParseJson(text, "f"), config, "f"))
      CheckSample(sample, config);
  });
}
