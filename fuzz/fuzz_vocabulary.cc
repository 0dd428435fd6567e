#include "attend/vocabulary.h"
#include "fuzz/harness.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  return ReadForeign(data, size, ErrorKind::kInput, [](std::string_view bytes) {
    const auto vocabulary = Vocabulary::FromBytes(bytes, "vocab.spm");
    for (const char* line :
         {"", "lumi tavo, keri?", "\xff\xf0\x9f ÄÖÜ \xe2\x96\x81 x", "paku\tneri  dosa"}) {
      const std::vector<int32_t> ids = vocabulary->Encode(line);
      for (const int32_t id : ids) vocabulary->Piece(id);
      vocabulary->Decode(ids);
    }
  });
}
