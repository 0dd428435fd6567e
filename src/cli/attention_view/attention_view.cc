#include "cli/attention_view/attention_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attend/error.h"
#include "cli/attention_view/html_page.h"

namespace attend {

const AttentionKind& AttentionView::Kind(const std::string& name) const {
  std::string names;
  for (const AttentionKind& kind : kinds) {
    if (kind.name == name) return kind;
    names += (names.empty() ? "" : ", ") + kind.name;
  }
  throw Error(
      ErrorKind::kUsage,
      fmt::format("this model has no attention of kind '{}', expected one of {}", name, names));
}

int64_t LayerIndex(int64_t layers, int64_t layer) {
  if (layer < 0 || layer > layers) {
    throw Error(ErrorKind::kUsage, fmt::format("--layer is {}, expected 1 to {}", layer, layers));
  }
  return layer == 0 ? layers - 1 : layer - 1;
}

Json AttentionToJson(const AttentionView& view) {
  Json kinds = Json::object();
  for (const AttentionKind& kind : view.kinds) {
    kinds[kind.name] = {{"queries", kind.queries}, {"keys", kind.keys}, {"weights", kind.weights}};
  }
  return {{"source", view.source}, {"target", view.target}, {"kinds", std::move(kinds)}};
}

std::string AttentionToHtml(const AttentionView& view, const std::string& kind, int64_t layer) {
  Json data = {{"source", view.source}, {"target", view.target}, {"kinds", Json::array()}};
  for (const AttentionKind& each : view.kinds) {
    Json weights = Json::array();  // in thousandths: whole numbers are a third as long
    for (const auto& heads : each.weights) {
      Json layer_weights = Json::array();
      for (const auto& rows : heads) {
        Json head = Json::array();
        for (const auto& row : rows) {
          Json numbers = Json::array();
          for (const float weight : row) numbers.push_back(std::lround(1000 * weight));
          head.push_back(std::move(numbers));
        }
        layer_weights.push_back(std::move(head));
      }
      weights.push_back(std::move(layer_weights));
    }
    data["kinds"].push_back({{"name", each.name},
                             {"title", each.title},
                             {"query_title", each.query_title},
                             {"key_title", each.key_title},
                             {"queries", each.queries},
                             {"keys", each.keys},
                             {"weights", std::move(weights)}});
  }
  data["kind"] = view.Kind(kind).name;
  data["layer"] = LayerIndex(std::ssize(view.Kind(kind).weights), layer);
  return HtmlPage("attention.html", {"attention.css", "attention.js"}, {}, data);
}

}  // namespace attend
