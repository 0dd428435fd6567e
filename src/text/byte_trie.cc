#include "text/byte_trie.h"

#include <algorithm>

namespace attend {
namespace {

// Nodes are made level by level: each holds texts [begin, end), which agree in `depth` bytes.
struct Open {
  size_t begin, end, depth;
};

}  // namespace

ByteTrie::ByteTrie(std::vector<std::pair<std::string_view, int32_t>> texts)
    : nodes_(1), bytes_(1, '\0') {
  std::ranges::stable_sort(texts, {}, [](const auto& text) { return text.first; });
  std::vector<Open> open = {{0, texts.size(), 0}};
  for (size_t node = 0; node < open.size(); ++node) {
    auto [begin, end, depth] = open[node];
    if (begin < end && texts[begin].first.size() == depth && depth > 0)
      nodes_[node].value = texts[begin].second;
    while (begin < end && texts[begin].first.size() == depth) ++begin;
    nodes_[node].first = static_cast<uint32_t>(nodes_.size());
    while (begin < end) {
      const char byte = texts[begin].first[depth];
      const size_t first = begin;
      while (begin < end && texts[begin].first[depth] == byte) ++begin;
      open.push_back({first, begin, depth + 1});
      nodes_.emplace_back();
      bytes_.push_back(byte);
      ++nodes_[node].children;
    }
  }
}

uint32_t ByteTrie::Child(uint32_t node, char byte) const {
  const Node& parent = nodes_[node];
  const auto as_unsigned = [](char c) { return static_cast<uint8_t>(c); };
  const auto begin = bytes_.begin() + parent.first, end = begin + parent.children;
  const auto found = std::ranges::lower_bound(begin, end, as_unsigned(byte), {}, as_unsigned);
  return found == end || *found != byte ? 0 : static_cast<uint32_t>(found - bytes_.begin());
}

ByteTrie::Match ByteTrie::Longest(std::string_view text) const {
  Match match;
  uint32_t node = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    node = Child(node, text[at]);
    if (node == 0) break;
    if (nodes_[node].value >= 0) match = {nodes_[node].value, at + 1};
  }
  return match;
}

int32_t ByteTrie::Find(std::string_view text) const {
  uint32_t node = 0;
  for (const char byte : text) {
    node = Child(node, byte);
    if (node == 0) return -1;
  }
  return nodes_[node].value;
}

}  // namespace attend
