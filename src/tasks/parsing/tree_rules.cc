#include "tasks/parsing/tree_rules.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace attend {
namespace {

class TreeGuide : public OutputGuide {
 public:
  TreeGuide(const TreeGrammar& grammar, std::span<const WordKind> kinds,
            std::span<const int32_t> places, int64_t max_length)
      : grammar_(grammar), kinds_(kinds), places_(places), max_length_(max_length), states_(1) {}

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
    const bool opens =
        words_left && !whole && room && now.openings < kMostOpenings && now.depth < kMostOpen;
    const bool word = words_left && now.depth > 0;
    const bool closes = now.has_child && now.depth > 0 && (now.depth > 1 || !words_left);
    return grammar_.Never(
        {now.label, opens, word, closes, word ? kinds_[now.words] : WordKind::kAny});
  }

  bool MayEnd(int32_t state) const override {
    return states_[state].depth == 0 && states_[state].length > 0;
  }

  int32_t SourceRow(int32_t state) const override { return places_[states_[state].words]; }

 private:
  struct State {
    int32_t around = -1;  // the state before the innermost open constituent; -1: none is open
    int32_t label = -1;   // of that constituent
    int32_t words = 0, depth = 0, length = 0;
    int32_t openings = 0;  // since the last word or closing bracket
    bool has_child = false;
  };
  int64_t count() const { return std::ssize(kinds_); }

  const TreeGrammar& grammar_;
  const std::span<const WordKind> kinds_;
  const std::span<const int32_t> places_;
  const int64_t max_length_;
  std::vector<State> states_;
};

bool MayHave(std::string_view tag, WordKind kind) {
  return kind == WordKind::kAny || IsPunctuationTag(tag) == (kind == WordKind::kPunctuation);
}

// Of the choices 4: opens, 2: a word, 1: closes.
bool Allowed(const TreeSymbols& symbols, int32_t id, int64_t open, int64_t may, WordKind kind) {
  switch (symbols.kind(id)) {
    case SymbolKind::kOpens:
      return (may & 4) != 0;
    case SymbolKind::kWord:
      return (may & 2) != 0 && MayHave(symbols.tags()[symbols.label(id)], kind);
    case SymbolKind::kCloses:
      return (may & 1) != 0 && symbols.label(id) == open;
    default:
      return id == symbols.eos();  // whether it may come is another question
  }
}

// There is a tag for words of this kind.
bool HasTags(const TreeSymbols& symbols, WordKind kind) {
  return std::ranges::any_of(symbols.tags(), [&](const auto& tag) { return MayHave(tag, kind); });
}

}  // namespace

TreeGrammar::TreeGrammar(TreeSymbols symbols, const std::optional<PunctuationWords>& punctuation)
    : symbols_(std::move(symbols)),
      tells_punctuation_(punctuation && HasTags(symbols_, WordKind::kPunctuation) &&
                         HasTags(symbols_, WordKind::kOther)) {
  if (tells_punctuation_) {
    for (const std::string& word : punctuation->always) kinds_[word] = WordKind::kPunctuation;
    for (const std::string& word : punctuation->sometimes) kinds_[word] = WordKind::kAny;
  }
  for (int64_t open = -1; open < std::ssize(symbols_.constituents()); ++open) {
    for (int64_t may = 0; may < kChoices; ++may) {
      for (const WordKind kind : {WordKind::kAny, WordKind::kPunctuation, WordKind::kOther}) {
        std::vector<int32_t>& never = never_.emplace_back();
        for (int32_t id = 0; id < symbols_.size(); ++id)
          if (!Allowed(symbols_, id, open, may, kind)) never.push_back(id);
      }
    }
  }
}

WordKind TreeGrammar::KindOf(const std::string& word) const {
  if (!tells_punctuation_) return WordKind::kAny;
  const auto found = kinds_.find(word);
  return found == kinds_.end() ? WordKind::kOther : found->second;
}

TreeRules::TreeRules(std::shared_ptr<const TreeGrammar> grammar, std::span<const std::string> words,
                     std::vector<int32_t> places, int64_t max_length)
    : grammar_(std::move(grammar)), places_(std::move(places)), max_length_(max_length) {
  for (const std::string& word : words) kinds_.push_back(grammar_->KindOf(word));
}

std::unique_ptr<OutputGuide> TreeRules::Begin() const {
  return std::make_unique<TreeGuide>(*grammar_, kinds_, places_, max_length_);
}

}  // namespace attend
