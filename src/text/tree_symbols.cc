#include "text/tree_symbols.h"

#include <algorithm>
#include <array>
#include <utility>

namespace attend {

bool IsPunctuationTag(std::string_view tag) {
  constexpr std::array<std::string_view, 5> kTags = {",", ":", "``", "''", "."};
  return std::ranges::find(kTags, tag) != kTags.end();
}

TreeSymbols::TreeSymbols(std::vector<std::string> constituents, std::vector<std::string> tags,
                         const SpecialIds& special)
    : constituents_(std::move(constituents)),
      tags_(std::move(tags)),
      eos_(static_cast<int32_t>(special.eos)) {
  const int64_t reserved[] = {special.pad, special.unk, special.bos, special.eos};
  const auto symbols = static_cast<int64_t>(2 * constituents_.size() + tags_.size());
  const int64_t last = *std::ranges::max_element(reserved);
  for (int64_t id = 0; std::ssize(ids_) < symbols || id <= last; ++id) {
    const bool is_symbol =
        std::ssize(ids_) < symbols && std::ranges::find(reserved, id) == std::end(reserved);
    const auto symbol = static_cast<int32_t>(ids_.size());
    const auto labels = static_cast<int32_t>(constituents_.size());
    if (is_symbol) ids_.push_back(static_cast<int32_t>(id));
    kinds_.push_back(!is_symbol            ? SymbolKind::kSpecial
                     : symbol < labels     ? SymbolKind::kOpens
                     : symbol < 2 * labels ? SymbolKind::kCloses
                                           : SymbolKind::kWord);
    labels_.push_back(!is_symbol            ? -1
                      : symbol < labels     ? symbol
                      : symbol < 2 * labels ? symbol - labels
                                            : symbol - 2 * labels);
  }
  for (size_t i = 0; i < constituents_.size(); ++i)
    constituent_of_.emplace(constituents_[i], static_cast<int32_t>(i));
  for (size_t i = 0; i < tags_.size(); ++i) tag_of_.emplace(tags_[i], static_cast<int32_t>(i));
}

std::vector<int32_t> TreeSymbols::Linearized(const Tree& tree) const {
  std::vector<int32_t> ids;
  std::vector<std::pair<int64_t, int32_t>> closing;  // where what is open ends, and its symbol
  const auto close_until = [&](int64_t place) {
    for (; !closing.empty() && closing.back().first <= place; closing.pop_back())
      ids.push_back(closing.back().second);
  };
  for (int64_t i = 0; i < std::ssize(tree.nodes); ++i) {
    close_until(i);
    const TreeNode& node = tree.nodes[i];
    const auto& known = node.leaf() ? tag_of_ : constituent_of_;
    const auto found = known.find(node.label);
    const bool is_known = found != known.end();
    if (node.leaf()) {
      ids.push_back(is_known ? Tag(found->second) : -1);
      continue;
    }
    ids.push_back(is_known ? Opening(found->second) : -1);
    closing.emplace_back(node.end, is_known ? Closing(found->second) : -1);
  }
  close_until(std::ssize(tree.nodes));
  return ids;
}

bool TreeSymbols::TreeOf(std::span<const int32_t> ids, std::span<const std::string> words,
                         Tree* tree) const {
  tree->nodes.clear();
  std::vector<int64_t> open;
  size_t word = 0;
  for (const int32_t id : ids) {
    if (id < 0 || id >= size() || kinds_[id] == SymbolKind::kSpecial) return false;
    const int64_t count = std::ssize(tree->nodes);
    if (open.empty() && count > 0) return false;  // the tree is whole
    if (kinds_[id] == SymbolKind::kOpens) {
      open.push_back(count);
      tree->nodes.push_back({constituents_[labels_[id]], "", 0});
    } else if (kinds_[id] == SymbolKind::kWord) {
      if (open.empty() || word == words.size()) return false;
      tree->nodes.push_back({tags_[labels_[id]], words[word++], count + 1});
    } else {
      if (open.empty() || tree->nodes[open.back()].label != constituents_[labels_[id]] ||
          count == open.back() + 1) {
        return false;
      }
      tree->nodes[open.back()].end = count;
      open.pop_back();
    }
  }
  return open.empty() && word == words.size() && !tree->nodes.empty();
}

std::string TreeSymbols::ToText(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids) {
    if (!text.empty()) text += ' ';
    const int32_t label = labels_[id];
    switch (kinds_[id]) {
      case SymbolKind::kOpens:
        text += "(" + constituents_[label];
        break;
      case SymbolKind::kCloses:
        text += constituents_[label] + ")";
        break;
      case SymbolKind::kWord:
        text += tags_[label];
        break;
      case SymbolKind::kSpecial:
        text += "?";
        break;
    }
  }
  return text;
}

}  // namespace attend
