// A line of a knowledge graph: node<TAB>relation<TAB>node.
#ifndef ATTEND_BASE_TRIPLE_H_
#define ATTEND_BASE_TRIPLE_H_

#include <array>
#include <optional>
#include <string_view>

namespace attend {

// From, relation, to, which point into the line; nothing where it is not three names.
inline std::optional<std::array<std::string_view, 3>> SplitTriple(std::string_view line) {
  const size_t first = line.find('\t');
  if (first == std::string_view::npos) return std::nullopt;
  const size_t second = line.find('\t', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const std::array<std::string_view, 3> triple = {
      line.substr(0, first), line.substr(first + 1, second - first - 1), line.substr(second + 1)};
  for (const std::string_view name : triple)
    if (name.empty() || name.find('\t') != std::string_view::npos) return std::nullopt;
  return triple;
}

}  // namespace attend

#endif  // ATTEND_BASE_TRIPLE_H_
