#include "tasks/fusion/neighbourhood.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace attend {
namespace {

// The triples of a node so that each relation, in each direction, comes as early as it can.
std::vector<int32_t> ByTurns(const std::vector<int32_t>& numbers, const GraphFile& graph,
                             int32_t node) {
  std::map<std::pair<int32_t, bool>, int64_t> seen;
  std::vector<std::pair<int64_t, int32_t>> order;
  for (const int32_t number : numbers) {
    const auto& [from, relation, to] = graph.triples[number];
    order.emplace_back(seen[{relation, from == node}]++, number);
  }
  std::ranges::sort(order);
  std::vector<int32_t> turns;
  for (const auto& [turn, number] : order) turns.push_back(number);
  return turns;
}

}  // namespace

Json NeighbourhoodToJson(const Neighbourhood& found) {
  return {{"triples", found.triples}, {"left_out", found.left_out}};
}

GraphNeighbours::GraphNeighbours(const Model& model)
    : nodes_(model.config.fusion->nodes),
      graph_(ParseGraphFile(model.graph, nodes_, "the model's graph")),
      triples_of_(nodes_.size()) {
  for (const std::string& node : nodes_) rows_.emplace(node, static_cast<int32_t>(rows_.size()));
  for (size_t i = 0; i < graph_.triples.size(); ++i) {
    const auto& [from, relation, to] = graph_.triples[i];
    triples_of_[from].push_back(static_cast<int32_t>(i));
    if (to != from) triples_of_[to].push_back(static_cast<int32_t>(i));
  }
  for (size_t node = 0; node < nodes_.size(); ++node)
    triples_of_[node] = ByTurns(triples_of_[node], graph_, static_cast<int32_t>(node));
}

Neighbourhood GraphNeighbours::Around(std::span<const std::string> nodes, int64_t most) const {
  std::vector<int32_t> linked;
  for (const std::string& name : nodes) {
    const auto row = rows_.find(name);
    if (row != rows_.end() && std::ranges::find(linked, row->second) == linked.end())
      linked.push_back(row->second);
  }
  const std::set<int32_t> among(linked.begin(), linked.end());
  std::set<int32_t> taken, all;
  std::vector<int32_t> chosen;
  const auto take = [&](int32_t number) {
    if (std::ssize(chosen) < most && taken.insert(number).second) chosen.push_back(number);
  };
  for (const int32_t node : linked) {
    for (const int32_t number : triples_of_[node]) {
      all.insert(number);
      if (among.contains(graph_.triples[number][0]) && among.contains(graph_.triples[number][2]))
        take(number);
    }
  }
  std::vector<size_t> next(linked.size());
  for (bool more = true; more && std::ssize(chosen) < most;) {
    more = false;
    for (size_t i = 0; i < linked.size(); ++i) {
      const std::vector<int32_t>& own = triples_of_[linked[i]];
      while (next[i] < own.size() && taken.contains(own[next[i]])) ++next[i];
      if (next[i] == own.size()) continue;
      take(own[next[i]]);
      more = true;
    }
  }
  Neighbourhood found;
  found.left_out = std::ssize(all) - std::ssize(chosen);
  for (const int32_t number : chosen) {
    const auto& [from, relation, to] = graph_.triples[number];
    found.triples.push_back({nodes_[from], graph_.relations[relation], nodes_[to]});
  }
  return found;
}

}  // namespace attend
