// graph.tsv of a model directory: the triples between the nodes that a model of fusion knows. It is
// for drawing; nothing is computed with it. docs/model_file.md is its grammar.
#ifndef ATTEND_MODEL_GRAPH_FILE_H_
#define ATTEND_MODEL_GRAPH_FILE_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

inline constexpr size_t kMaxGraphBytes = size_t{1} << 26;

struct GraphFile {
  std::vector<std::string> relations;  // in the order in which they appear
  // From, relation, to: nodes by their number in `nodes`, relations by theirs.
  std::vector<std::array<int32_t, 3>> triples;
};

// Throws Error(kInput) that opens with `where` and names the line: one that is no triple, a name
// that is none of the nodes, or a file of more than kMaxGraphBytes.
GraphFile ParseGraphFile(std::string_view bytes, const std::vector<std::string>& nodes,
                         const std::string& where);

}  // namespace attend

#endif  // ATTEND_MODEL_GRAPH_FILE_H_
