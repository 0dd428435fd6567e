#include "nn/measure/layer_cost.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "nn/measure/table1_layer.h"
#include "nn/measure/tensor_bytes.h"

namespace attend::nn {
namespace {

std::vector<torch::Tensor> InputAndWeights(Table1Layer& layer, const torch::Tensor& x_ND) {
  std::vector<torch::Tensor> all = layer.parameters();
  all.push_back(x_ND);
  return all;
}

// The longest chain below each node, children before parents; chains are too long to recurse.
int64_t LongestChain(torch::autograd::Node* root) {
  using torch::autograd::Node;
  std::unordered_map<Node*, int64_t> longest;
  std::vector<std::pair<Node*, bool>> open = {{root, false}};
  while (!open.empty()) {
    const auto [node, counted] = open.back();
    open.pop_back();
    if (longest.contains(node)) continue;
    if (!counted) open.emplace_back(node, true);
    int64_t below = 0;
    for (const torch::autograd::Edge& edge : node->next_edges()) {
      if (edge.function == nullptr) continue;
      if (!counted) {
        open.emplace_back(edge.function.get(), false);
      } else {
        below = std::max(below, longest.at(edge.function.get()));
      }
    }
    // What collects a leaf's gradient computes nothing.
    if (counted)
      longest[node] = node->num_inputs() > 0 && node->next_edges().empty() ? 0 : below + 1;
  }
  return longest.at(root);
}

}  // namespace

LayerCost MeasureLayer(const LayerShape& shape, int64_t length, double seconds,
                       const std::function<double()>& now) {
  const std::unique_ptr<Table1Layer> layer = MakeTable1Layer(shape);
  const torch::Tensor x_ND = torch::randn({length, layer->InputWidth()}).requires_grad_();
  const torch::Tensor gradient_ND = torch::randn({length, shape.width});
  const std::vector<torch::Tensor> inputs = InputAndWeights(*layer, x_ND);
  LayerCost cost;
  const double begin = now();
  while (cost.runs < 2 || now() - begin < seconds) {
    const auto bytes = std::make_shared<TensorBytes>();
    const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, bytes);
    const double start = now();
    const torch::Tensor y_ND = layer->Forward(x_ND, 0);
    const double middle = now();
    cost.kept_bytes = bytes->now();
    const auto found = torch::autograd::grad({y_ND}, inputs, {gradient_ND});
    const double forward = middle - start, backward = now() - middle;
    cost.peak_bytes = bytes->most();
    if (cost.runs++ == 0) continue;
    cost.forward_s += forward;
    cost.backward_s += backward;
  }
  cost.forward_s /= static_cast<double>(cost.runs - 1);
  cost.backward_s /= static_cast<double>(cost.runs - 1);
  return cost;
}

int64_t SequentialOperations(const LayerShape& shape, int64_t length) {
  const std::unique_ptr<Table1Layer> layer = MakeTable1Layer(shape);
  layer->to(layer->PlainType());
  const torch::Tensor x_ND =
      torch::randn({length, layer->InputWidth()}, layer->PlainType()).requires_grad_();
  return LongestChain(layer->Forward(x_ND, 0).grad_fn().get());
}

int64_t PathLength(const LayerShape& shape, int64_t length) {
  const std::unique_ptr<Table1Layer> layer = MakeTable1Layer(shape);
  layer->to(torch::kFloat64);
  return layer->PathLength(length);
}

}  // namespace attend::nn
