#include "tasks/parsing/tree_rules.h"

#include <utility>

namespace attend {
namespace {

class TreeGuide : public OutputGuide {
 public:
  TreeGuide(const TreeGrammar& grammar, std::span<const int32_t> words, int64_t max_length)
      : grammar_(grammar), words_(words), max_length_(max_length), states_(1) {}

  int32_t Next(int32_t state, int32_t token) override {
    const State now = states_[state];
    State next = now;
    ++next.length;
    next.openings = 0;
    next.has_child = true;
    switch (grammar_.symbols().kind(token)) {
      case SymbolKind::kOpens:
        next.around = state;
        next.label = grammar_.symbols().label(token);
        next.openings = now.openings + 1;
        ++next.depth;
        next.has_child = false;
        break;
      case SymbolKind::kWord:
        ++next.words;
        break;
      default:
        next.label = states_[now.around].label;
        next.around = states_[now.around].around;
        --next.depth;
        break;
    }
    states_.push_back(next);
    return static_cast<int32_t>(states_.size()) - 1;
  }

  std::span<const int32_t> Never(int32_t state) const override {
    const State& now = states_[state];
    const bool words_left = now.words < count();
    const bool whole = now.depth == 0 && now.length > 0;
    // What stands, this bracket and its closing one, the words, the closing brackets, eos.
    const bool room = now.length + 2 + (count() - now.words) + now.depth + 1 <= max_length_;
    const bool opens = words_left && !whole && room && now.openings < kMostOpenings &&
                       now.depth < kMostOpen;
    const bool word = words_left && now.depth > 0;
    const bool closes = now.has_child && now.depth > 0 && (now.depth > 1 || !words_left);
    return grammar_.Never(now.label, opens, word, closes);
  }

  bool MayEnd(int32_t state) const override {
    return states_[state].depth == 0 && states_[state].length > 0;
  }

  int32_t SourceRow(int32_t state) const override { return words_[states_[state].words]; }

 private:
  struct State {
    int32_t around = -1;  // the state before the innermost open constituent; -1: none is open
    int32_t label = -1;   // of that constituent
    int32_t words = 0, depth = 0, length = 0;
    int32_t openings = 0;  // since the last word or closing bracket
    bool has_child = false;
  };
  int64_t count() const { return std::ssize(words_) - 1; }

  const TreeGrammar& grammar_;
  const std::span<const int32_t> words_;
  const int64_t max_length_;
  std::vector<State> states_;
};

}  // namespace

TreeGrammar::TreeGrammar(TreeSymbols symbols) : symbols_(std::move(symbols)) {
  for (int32_t open = -1; open < std::ssize(symbols_.constituents()); ++open) {
    for (int may = 0; may < 8; ++may) {
      std::vector<int32_t>& never = never_.emplace_back();
      for (int32_t id = 0; id < symbols_.size(); ++id) {
        const SymbolKind kind = symbols_.kind(id);
        const bool allowed = (kind == SymbolKind::kOpens && (may & 4) != 0) ||
                             (kind == SymbolKind::kWord && (may & 2) != 0) ||
                             (kind == SymbolKind::kCloses && (may & 1) != 0 &&
                              symbols_.label(id) == open);
        // Whether eos may come is another question.
        if (!allowed && id != symbols_.eos()) never.push_back(id);
      }
    }
  }
}

TreeRules::TreeRules(std::shared_ptr<const TreeGrammar> grammar, std::vector<int32_t> words,
                     int64_t max_length)
    : grammar_(std::move(grammar)), words_(std::move(words)), max_length_(max_length) {}

std::unique_ptr<OutputGuide> TreeRules::Begin() const {
  return std::make_unique<TreeGuide>(*grammar_, words_, max_length_);
}

}  // namespace attend
