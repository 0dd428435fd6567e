// What the graph of a model of fusion says of the nodes that an item links to: for drawing.
#ifndef ATTEND_TASKS_FUSION_NEIGHBOURHOOD_H_
#define ATTEND_TASKS_FUSION_NEIGHBOURHOOD_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json.h"
#include "model/graph_file.h"
#include "model/model_directory.h"

namespace attend {

struct Neighbourhood {
  std::vector<std::array<std::string, 3>> triples;  // from, relation, to
  int64_t left_out = 0;                             // of the nodes' triples
};

// {"triples": [[from, relation, to], ...], "left_out"}
Json NeighbourhoodToJson(const Neighbourhood& found);

// The graph by nodes. Immutable; safe to use from many threads. Must not outlive the model.
class GraphNeighbours {
 public:
  // What can be drawn and still be read.
  static constexpr int64_t kMostTriples = 24;

  // Throws Error(kInput) as ParseGraphFile does.
  explicit GraphNeighbours(const Model& model);

  // 0: the model has no graph with it.
  int64_t triples() const { return std::ssize(graph_.triples); }
  // Triples that begin or end in one of the nodes: those between two of them first, then the nodes
  // take turns, each with the relations that it has shown least. Nodes that the graph lacks have
  // none.
  Neighbourhood Around(std::span<const std::string> nodes, int64_t most = kMostTriples) const;

 private:
  const std::vector<std::string>& nodes_;
  const GraphFile graph_;
  std::unordered_map<std::string_view, int32_t> rows_;  // of nodes
  // Numbers of the triples of each node, in the order in which they are shown.
  std::vector<std::vector<int32_t>> triples_of_;
};

}  // namespace attend

#endif  // ATTEND_TASKS_FUSION_NEIGHBOURHOOD_H_
