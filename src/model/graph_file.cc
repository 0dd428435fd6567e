#include "model/graph_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/edit_distance.h"
#include "base/excerpt.h"
#include "base/triple.h"
#include "model/config_file.h"

namespace attend {

GraphFile ParseGraphFile(std::string_view bytes, const std::vector<std::string>& nodes,
                         const std::string& where) {
  if (bytes.size() > kMaxGraphBytes) {
    Damaged(where, fmt::format("has {} bytes, expected at most {}: the triples of a smaller graph",
                               bytes.size(), kMaxGraphBytes));
  }
  std::unordered_map<std::string_view, int32_t> rows, relations;
  for (const std::string& node : nodes) rows.emplace(node, static_cast<int32_t>(rows.size()));
  GraphFile graph;
  int64_t line = 0;
  const auto row_of = [&](std::string_view name) {
    const auto found = rows.find(name);
    if (found != rows.end()) return found->second;
    Damaged(where, fmt::format("line {}: '{}' is no node of the model{}", line, Excerpt(name),
                               DidYouMean(name, nodes)));
  };
  while (!bytes.empty()) {
    ++line;
    const size_t end = std::min(bytes.find('\n'), bytes.size());
    const auto triple = SplitTriple(bytes.substr(0, end));
    if (!triple) {
      Damaged(where, fmt::format("line {}: '{}', expected a node, a tab, a relation, a tab and a "
                                 "node",
                                 line, Excerpt(bytes.substr(0, end))));
    }
    const auto& [from, relation, to] = *triple;
    const auto [number, is_new] =
        relations.emplace(relation, static_cast<int32_t>(relations.size()));
    if (is_new) graph.relations.emplace_back(relation);
    graph.triples.push_back({row_of(from), number->second, row_of(to)});
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return graph;
}

}  // namespace attend
