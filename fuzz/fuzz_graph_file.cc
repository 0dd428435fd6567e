#include <cstdlib>
#include <string>
#include <vector>

#include "fuzz/harness.h"
#include "model/graph_file.h"

// The triples beside a model of fusion.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  return ReadForeign(data, size, ErrorKind::kInput, [](std::string_view bytes) {
    static const std::vector<std::string> nodes = {"cotton", "silk", "village", "weaver"};
    const GraphFile graph = ParseGraphFile(bytes, nodes, "graph.tsv");
    for (const auto& [from, relation, to] : graph.triples) {
      if (from < 0 || from > 3 || to < 0 || to > 3) std::abort();
      if (relation < 0 || relation >= std::ssize(graph.relations)) std::abort();
    }
  });
}
