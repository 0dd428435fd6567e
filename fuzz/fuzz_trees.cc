#include <cstdlib>

#include "fuzz/harness.h"
#include "metrics/brackets.h"
#include "text/tree.h"
#include "text/utf8.h"

// A tree in brackets, as training reads it, and as brackets of an evaluation.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  return ReadForeign(data, size, ErrorKind::kInput, [](std::string_view bytes) {
    const std::string line = RepairUtf8(bytes);
    ScoreBrackets({line}, {line});
    const Tree tree = Simplified(TreeOfLine(line, "the line"));
    if (tree.nodes.empty()) return;
    const std::string written = ToLine(tree);
    if (TreeOfLine(written, "what was written") != tree) std::abort();
  });
}
