#include "fuzz/harness.h"
#include "metrics/alignment_error_rate.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  return ReadForeign(data, size, ErrorKind::kInput, [](std::string_view line) {
    const Alignment alignment = ParseAlignment(line, "f:1");
    for (const AlignmentLinks& links : {alignment.sure, alignment.possible}) {
      for (const auto& [source, target] : links) {
        if (source < 0 || target < 0) std::abort();
      }
    }
    const Aer aer;
    const double score = aer.Score(aer.Statistics(line, {line}));
    if (score != 0) std::abort();  // a prediction equals itself
  });
}
