#include "attend/nn/relational_graph.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/random.h"
#include "nn/linear.h"

namespace attend::nn {

GraphEdges::GraphEdges(const GraphShape& shape) {
  std::vector<std::array<int64_t, 3>> edges;  // to, relation, from
  for (const auto& [from, relation, to] : shape.triples) {
    edges.push_back({to, relation, from});
    edges.push_back({from, relation + shape.relations, to});
  }
  std::ranges::sort(edges);
  std::map<std::pair<int64_t, int64_t>, int64_t> counts;  // by node and relation
  for (const auto& [to, relation, from] : edges) ++counts[{to, relation}];
  std::vector<int64_t> from_nodes, relations, by_node(shape.nodes);
  std::vector<float> shares;
  for (const auto& [to, relation, from] : edges) {
    from_nodes.push_back(from);
    relations.push_back(relation);
    shares.push_back(1 / static_cast<float>(counts[{to, relation}]));
    ++by_node[to];
  }
  from_E = torch::tensor(from_nodes, torch::kInt64);
  relation_E = torch::tensor(relations, torch::kInt64);
  share_E1 = torch::tensor(shares).unsqueeze(1);
  counts_N = torch::tensor(by_node, torch::kInt64);
}

RelationalLayerImpl::RelationalLayerImpl(const GraphShape& shape) {
  self = register_module("self", LinearLayer(shape.width, shape.width, /*with_bias=*/true));
  bases = register_parameter("bases", torch::zeros({shape.bases * shape.width, shape.width}));
  coefficients =
      register_parameter("coefficients", torch::zeros({2 * shape.relations, shape.bases}));
}

torch::Tensor RelationalLayerImpl::forward(const torch::Tensor& nodes_NG, const GraphEdges& edges) {
  const int64_t count = coefficients.size(1);
  // Every basis of every node once; an edge then mixes those of the node that it comes from.
  const torch::Tensor based_NBG = Linear(nodes_NG, bases, {}).unflatten(1, {count, -1});
  const torch::Tensor mix_E1B =
      (coefficients.index_select(0, edges.relation_E) * edges.share_E1).unsqueeze(1);
  const torch::Tensor messages_EG =
      torch::bmm(mix_E1B, based_NBG.index_select(0, edges.from_E)).squeeze(1);
  const torch::Tensor sums_NG =
      torch::segment_reduce(messages_EG, "sum", edges.counts_N, {}, {}, 0, false, 0);
  return torch::relu(Linear(nodes_NG, self) + sums_NG);
}

RelationalGraphImpl::RelationalGraphImpl(const GraphShape& shape, int64_t d_model)
    : node_dropout_(shape.node_dropout), edges_(shape) {
  nodes = register_module("nodes", torch::nn::Embedding(shape.nodes, shape.width));
  layers = register_module("layers", torch::nn::ModuleList());
  for (int64_t layer = 0; layer < shape.layers; ++layer) layers->push_back(RelationalLayer(shape));
  output = register_module("output", LinearLayer(shape.width, d_model, /*with_bias=*/true));
}

torch::Tensor RelationalGraphImpl::forward(const std::optional<uint64_t>& seed) {
  torch::Tensor x_NG = nodes->weight;
  if (seed && is_training() && node_dropout_ > 0) {
    constexpr uint64_t kNodeKey = 0x6e6f6465;  // "node"
    Random random{*seed, kNodeKey};
    std::vector<float> kept(x_NG.size(0));
    for (float& each : kept) each = random.Uniform() < node_dropout_ ? 0.0F : 1.0F;
    x_NG = x_NG * torch::tensor(kept).unsqueeze(1);
  }
  for (size_t i = 0; i < layers->size(); ++i)
    x_NG = layers->at<RelationalLayerImpl>(i).forward(x_NG, edges_);
  return Linear(x_NG, output);
}

}  // namespace attend::nn
