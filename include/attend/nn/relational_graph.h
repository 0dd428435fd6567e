// A relational graph convolutional network with basis decomposition (R-GCN, Schlichtkrull et al.
// 2018, equations 2 and 3): vectors of a graph's nodes that know their neighbours.
#ifndef ATTEND_NN_RELATIONAL_GRAPH_H_
#define ATTEND_NN_RELATIONAL_GRAPH_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "attend/nn/linear_layer.h"
#include "attend/nn/torch.h"

namespace attend::nn {

struct GraphShape {
  int64_t nodes = 0, relations = 0;
  std::vector<std::array<int64_t, 3>> triples;  // from, relation, to; by number
  int64_t width = 64;                           // of a node's vector inside
  int64_t layers = 2;
  int64_t bases = 4;        // matrices that those of the relations are sums of
  double node_dropout = 0;  // share of nodes that an update hides
};

// The edges of the triples and of their inverses, which are relations of their own, sorted by the
// node that they lead to: sums over them have one order.
struct GraphEdges {
  explicit GraphEdges(const GraphShape& shape);

  torch::Tensor from_E, relation_E;  // int64
  torch::Tensor share_E1;  // 1 / edges of this relation that lead to the node (c of equation 2)
  torch::Tensor counts_N;  // int64: edges that lead to each node
};

// relu(W_0 h_i + b + the sum over relations r and neighbours j of W_r h_j / c_ir), where W_r is the
// sum over bases of coefficient a_rb times V_b.
class RelationalLayerImpl : public torch::nn::Module {
 public:
  explicit RelationalLayerImpl(const GraphShape& shape);
  torch::Tensor forward(const torch::Tensor& nodes_NG, const GraphEdges& edges);

  LinearLayer self{nullptr};
  torch::Tensor bases;         // [bases * G, G], one V_b below another
  torch::Tensor coefficients;  // [2 * relations, bases]
};
TORCH_MODULE(RelationalLayer);

// The nodes' vectors [N, D], by layers from learned ones of each node, at the end times a matrix
// with a bias.
class RelationalGraphImpl : public torch::nn::Module {
 public:
  RelationalGraphImpl(const GraphShape& shape, int64_t d_model);
  // In training with a `seed` some nodes' learned vectors are hidden, which seed and node decide: a
  // node must then be known by its neighbours.
  torch::Tensor forward(const std::optional<uint64_t>& seed);

  torch::nn::Embedding nodes{nullptr};
  torch::nn::ModuleList layers{nullptr};
  LinearLayer output{nullptr};

 private:
  double node_dropout_;
  GraphEdges edges_;
};
TORCH_MODULE(RelationalGraph);

}  // namespace attend::nn

#endif  // ATTEND_NN_RELATIONAL_GRAPH_H_
