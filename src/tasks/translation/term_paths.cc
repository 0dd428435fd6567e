#include "tasks/translation/term_paths.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "tasks/translation/term_guide.h"
#include "text/case_marks.h"
#include "text/utf8.h"
#include "text/words.h"

namespace attend {
namespace {

// Tokens with an ending, at each place where one may end the term.
constexpr size_t kMostForms = 8;

// So many tokens at the beginning write the text, with or without a space; 0: none do.
size_t TokensOf(std::string_view text, std::span<const int32_t> ids, const TokenTexts& texts) {
  std::string written;
  for (size_t i = 0; i < ids.size() && written.size() <= text.size(); ++i) {
    written += texts.Of(ids[i]);
    if (written == text || written == " " + std::string(text)) return i + 1;
  }
  return 0;
}

}  // namespace

bool IsEnding(std::string_view text) {
  const std::u32string characters = CodePoints(text);
  return std::ssize(characters) <= kMostEnding && std::ranges::all_of(characters, JoinsWords);
}

TermPaths::TermPaths(std::span<const FoundTerm> terms, const TokenTexts& texts,
                     const Encode& encode)
    : texts_(texts), nodes_(2) {
  std::vector<const std::vector<TermTarget>*> known;
  for (const FoundTerm& found : terms) {
    const auto at =
        std::ranges::find_if(known, [&](const auto* each) { return *each == found.targets; });
    const auto term = static_cast<int32_t>(at - known.begin());
    if (at == known.end()) {
      known.push_back(&found.targets);
      terms_.push_back({.tokens = std::numeric_limits<int64_t>::max()});
      for (const TermTarget& target : found.targets) AddTarget(term, target, encode);
    }
    const bool writable = terms_[term].tokens < std::numeric_limits<int64_t>::max();
    if (writable && terms_[term].count < std::numeric_limits<uint8_t>::max()) ++terms_[term].count;
  }
  for (const Node& node : nodes_)
    for (const Node::Child& child : node.children) tokens_.push_back(child.id);
  std::ranges::sort(tokens_);
  tokens_.erase(std::ranges::unique(tokens_).begin(), tokens_.end());
  tokens_left_ = TermPaths::Begin()->TokensLeft(0);
}

int64_t TermPaths::count() const {
  int64_t sum = 0;
  for (const Term& term : terms_) sum += term.count;
  return sum;
}

void TermPaths::AddTarget(int32_t term, const TermTarget& target, const Encode& encode) {
  constexpr std::string_view kOpening = "(";
  for (const std::string& text : {target.text, Capitalised(target.text)}) {
    for (const std::string_view before : {std::string_view(), kOpening}) {
      const std::vector<int32_t> ids = encode(std::string(before) + text);
      const size_t first = before.empty() ? 0 : TokensOf(before, ids, texts_);
      if (ids.empty() || (first == 0) != before.empty() || first == ids.size()) continue;
      const auto own = std::span(ids).subspan(first);
      std::string pattern = texts_.Of(own);
      if (pattern.starts_with(' ')) pattern.erase(0, 1);
      if (pattern.empty()) continue;
      AddPattern({pattern, term, target.inflect && JoinsAtEnd(pattern), JoinsAtEnd(pattern)});
      const int64_t fewest = AddPath(before.empty() ? kSpaced : kJoined, own, term, target.inflect);
      if (before.empty()) terms_[term].tokens = std::min(terms_[term].tokens, fewest);
    }
    if (Capitalised(target.text) == target.text) break;
  }
}

void TermPaths::AddPattern(Pattern pattern) {
  for (Pattern& other : patterns_) {
    if (other.term != pattern.term || other.text != pattern.text) continue;
    other.inflect = other.inflect || pattern.inflect;
    return;
  }
  begins_[static_cast<uint8_t>(pattern.text[0])].push_back(static_cast<int32_t>(patterns_.size()));
  patterns_.push_back(std::move(pattern));
}

int64_t TermPaths::AddPath(int32_t root, std::span<const int32_t> ids, int32_t term, bool inflect) {
  int32_t node = root;
  int64_t fewest = std::ssize(ids);
  for (size_t i = 0; i < ids.size(); ++i) {
    const int64_t left = std::ssize(ids) - static_cast<int64_t>(i) - 1;
    if (inflect) {
      const std::string rest = texts_.Of(ids.subspan(i));
      size_t forms = 0;
      for (const int32_t id : texts_.Longer(rest)) {
        if (!IsEnding(std::string_view(texts_.Of(id)).substr(rest.size()))) continue;
        Child(node, id, term, 0);
        fewest = std::min(fewest, static_cast<int64_t>(i) + 1);
        if (++forms == kMostForms) break;
      }
    }
    node = Child(node, ids[i], term, left);
  }
  return fewest;
}

int32_t TermPaths::Child(int32_t node, int32_t id, int32_t term, int64_t left) {
  auto& children = nodes_[node].children;
  const auto known = std::ranges::find(children, id, &Node::Child::id);
  const int32_t child = known != children.end() ? known->node : static_cast<int32_t>(nodes_.size());
  if (known == children.end()) {
    children.push_back({id, child});
    nodes_.emplace_back();
  }
  std::vector<Node::Left>& finishing = nodes_[child].left;
  const auto same = std::ranges::find(finishing, term, &Node::Left::term);
  if (same == finishing.end()) {
    finishing.push_back({term, left});
  } else {
    same->tokens = std::min(same->tokens, left);
  }
  return child;
}

std::unique_ptr<TermGuide> TermPaths::Begin() const {
  return std::make_unique<TermPathsGuide>(this);
}

}  // namespace attend
