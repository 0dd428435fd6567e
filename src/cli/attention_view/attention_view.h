// Attention weights as a picture for people: SVG of one layer, an interactive HTML page of all, or
// numbers.
#ifndef ATTEND_CLI_ATTENTION_VIEW_ATTENTION_VIEW_H_
#define ATTEND_CLI_ATTENTION_VIEW_ATTENTION_VIEW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace attend {

// One kind of attention: which tokens ask, which answer, and how much each gives.
struct AttentionKind {
  std::string name;         // "encoder", "decoder", "cross"
  std::string title;        // "Encoder self-attention"
  std::string query_title;  // what a row is: "source token"
  std::string key_title;    // what a column is
  std::vector<std::string> queries, keys;
  std::vector<std::vector<std::vector<std::vector<float>>>>
      weights;  // [layers][heads][queries][keys]
};

struct AttentionView {
  std::string source, target;  // the texts
  std::vector<AttentionKind> kinds;

  // Throws Error(kUsage) naming those there are.
  const AttentionKind& Kind(const std::string& name) const;
};

// {"source", "target", "kinds": {NAME: {"queries", "keys", "weights"}}}
Json AttentionToJson(const AttentionView& view);

// A panel for each head of one layer, counted from 1; 0 is the last. Throws Error(kUsage) for a
// layer that is not there.
std::string AttentionToSvg(const AttentionView& view, const std::string& kind, int64_t layer);

// A page that needs no network, opened at one kind and layer.
std::string AttentionToHtml(const AttentionView& view, const std::string& kind, int64_t layer);

// Straight from near white to deep blue in OKLab: equal steps of weight are equal steps for the
// eye, and lightness alone tells them apart in print or to the colour-blind. From 0 to 1.
std::string WeightColor(double weight);

// `layer`, counted from 1 with 0 for the last, as an index. Throws Error(kUsage) for one that is
// not there.
int64_t LayerIndex(int64_t layers, int64_t layer);

}  // namespace attend

#endif  // ATTEND_CLI_ATTENTION_VIEW_ATTENTION_VIEW_H_
