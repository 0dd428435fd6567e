#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "data/items.h"
#include "fuzz/harness.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

// A file that goes with the process.
struct ForeignFile {
  fs::path path = fs::temp_directory_path() / ("attend_fuzz_graph_" + std::to_string(getpid()));
  ~ForeignFile() { fs::remove(path); }
  std::vector<std::string> Write(std::string_view bytes) const {
    std::ofstream(path, std::ios::binary) << bytes;
    return {path.string()};
  }
};

bool IsSet(const std::vector<std::string>& names) {
  return std::ranges::is_sorted(names) && std::ranges::adjacent_find(names) == names.end();
}

// What is read is a set of triples over sets of names, and is the same from the lines it is written
// as.
void ReadForeignGraph(std::string_view bytes) {
  static const ForeignFile file;
  const KnowledgeGraph graph = ReadGraph(file.Write(bytes));
  if (!IsSet(graph.nodes) || !IsSet(graph.relations) || graph.triples.empty()) std::abort();
  for (const auto& [from, relation, to] : graph.triples) {
    if (std::min({from, relation, to}) < 0 || std::max(from, to) >= std::ssize(graph.nodes) ||
        relation >= std::ssize(graph.relations))
      std::abort();
  }
  const KnowledgeGraph again = ReadGraph(file.Write(GraphText(graph)));
  if (again.nodes != graph.nodes || again.relations != graph.relations ||
      again.triples != graph.triples)
    std::abort();
}

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  if (size > size_t{1} << 20) return 0;
  return ReadForeign(data, size, ErrorKind::kInput, ReadForeignGraph);
}
