#include "fuzz/harness.h"
#include "fuzz/tensors.h"
#include "model/shortlist.h"

// The seed is for a model of 12 source and 9 target ids, without vocabulary files.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  return ReadForeign(data, size, ErrorKind::kInput, [](std::string_view bytes) {
    Model model;
    model.config.source_vocab_size = 12;
    model.config.target_vocab_size = 9;
    const Shortlist shortlist = ParseShortlist(ForeignTensors(bytes), model, "f");
    if (shortlist.candidates.size() != 12) std::abort();
    for (int32_t source = 0; source < 12; ++source) {
      for (const int32_t id : shortlist.Columns({&source, 1})) {
        if (id < 0 || id >= 9) std::abort();
      }
    }
  });
}
