#include "tasks/translation/term_guide.h"

#include <algorithm>
#include <utility>

#include "text/words.h"

namespace attend {
namespace {

// Tokens that are asked for after one output: each costs time at every step.
constexpr size_t kMostWanted = 128;

bool BeginsCharacter(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) != 0x80; }

// Where the character at `begin` ends.
size_t CharacterEnd(std::string_view text, size_t begin) {
  size_t end = begin + 1;
  while (end < text.size() && !BeginsCharacter(text[end])) ++end;
  return end;
}

}  // namespace

TermPathsGuide::TermPathsGuide(const TermPaths* paths) : paths_(*paths) {
  State begin{.has = std::string(paths_.terms_.size(), '\0')};
  begin.ended = begin.has;
  Finish(&begin);
  NumberOf(std::move(begin));
}

int32_t TermPathsGuide::Next(int32_t state, int32_t token) {
  const uint64_t key = static_cast<uint64_t>(state) << 32 | static_cast<uint32_t>(token);
  const auto known = next_.find(key);
  if (known != next_.end()) return known->second;
  State next = states_[state];
  const bool opened = next.opened;
  Read(paths_.texts_.Of(token), &next);
  Move(token, opened, &next);
  Finish(&next);
  const int32_t number = NumberOf(std::move(next));
  next_.emplace(key, number);
  return number;
}

TermPathsGuide::Found TermPathsGuide::Match(const TermPaths::Pattern& pattern,
                                            std::string_view text, size_t begin, size_t fresh) {
  const std::string_view rest = text.substr(begin);
  if (rest.size() < pattern.text.size())
    return pattern.text.starts_with(rest) ? Found::kBegun : Found::kNot;
  if (!rest.starts_with(pattern.text)) return Found::kNot;
  size_t end = begin + pattern.text.size();
  if (!pattern.joins) return end > fresh ? Found::kWhole : Found::kKnown;
  const size_t stem = end;
  while (end < text.size() && JoinsAtStart(text.substr(end))) end = CharacterEnd(text, end);
  const std::string_view more = text.substr(stem, end - stem);
  if (!more.empty() && !(pattern.inflect && IsEnding(more))) return Found::kNot;
  if (end == text.size()) return Found::kEnded;
  return end >= fresh ? Found::kWhole : Found::kKnown;
}

void TermPathsGuide::Read(std::string_view more, State* state) const {
  if (more.empty()) return;
  const size_t fresh = state->tail.size();
  const std::string text = state->tail + std::string(more);
  size_t live = text.size();  // where the first term begins that may go on
  state->ended.assign(paths_.terms_.size(), '\0');
  for (size_t begin = 0; begin < text.size(); begin = CharacterEnd(text, begin)) {
    const std::string_view rest = std::string_view(text).substr(begin);
    const bool in_word =
        begin == 0 ? state->in_word : JoinsAtEnd(std::string_view(text).substr(0, begin));
    if (in_word && JoinsAtStart(rest)) continue;
    std::string here(paths_.terms_.size(), '\0');  // 1: the term has been found
    for (const int32_t number : paths_.begins_[static_cast<uint8_t>(rest[0])]) {
      const TermPaths::Pattern& pattern = paths_.patterns_[number];
      const Found found = Match(pattern, text, begin, fresh);
      if (found == Found::kBegun || found == Found::kEnded) live = std::min(live, begin);
      if (found < Found::kEnded || std::exchange(here[pattern.term], '\1') != '\0') continue;
      char& has = state->has[pattern.term];
      if (found == Found::kEnded) ++state->ended[pattern.term];
      if (found == Found::kWhole && static_cast<uint8_t>(has) < paths_.terms_[pattern.term].count)
        ++has;
    }
  }
  const std::string_view before = std::string_view(text).substr(0, live);
  if (!before.empty()) state->in_word = JoinsAtEnd(before);
  state->opened = OpensWord(text);
  state->tail = text.substr(live);
}

int64_t TermPathsGuide::Open(const State& state, int32_t term) const {
  return paths_.terms_[term].count - static_cast<uint8_t>(state.has[term]) -
         static_cast<uint8_t>(state.ended[term]);
}

bool TermPathsGuide::Leads(const State& state, int32_t node) const {
  return std::ranges::any_of(paths_.nodes_[node].left, [&](const TermPaths::Node::Left& left) {
    return Open(state, left.term) > 0;
  });
}

// Goes on in the tree that the output is in, or begins in one. A finished term leads nowhere.
void TermPathsGuide::Move(int32_t token, bool opened, State* state) const {
  std::vector<int32_t> from = {state->node, TermPaths::kSpaced};
  if (opened) from.push_back(TermPaths::kJoined);
  state->node = TermPaths::kSpaced;
  for (const int32_t node : from) {
    const auto& children = paths_.nodes_[node].children;
    const auto child = std::ranges::find(children, token, &TermPaths::Node::Child::id);
    if (child == children.end() || !Leads(*state, child->node)) continue;
    state->node = child->node;
    return;
  }
}

void TermPathsGuide::Finish(State* state) const {
  state->left = state->missing = 0;
  for (int32_t term = 0; term < std::ssize(paths_.terms_); ++term) {
    const int64_t open = std::max<int64_t>(Open(*state, term), 0);
    state->missing += open;
    state->left += open * paths_.terms_[term].tokens;
  }
  int64_t gained = 0;
  for (const TermPaths::Node::Left& left : paths_.nodes_[state->node].left) {
    if (Open(*state, left.term) > 0 && left.tokens > 0)
      gained = std::max(gained, paths_.terms_[left.term].tokens - left.tokens);
  }
  state->left -= gained;
  SetWanted(state);
}

// What goes on with a term comes first, so that one of those that stay leads on.
void TermPathsGuide::SetWanted(State* state) const {
  std::vector<int32_t> from = {state->node, TermPaths::kSpaced};
  if (state->opened) from.push_back(TermPaths::kJoined);
  state->wanted.clear();
  for (const int32_t node : from) {
    for (const TermPaths::Node::Child& child : paths_.nodes_[node].children) {
      if (state->wanted.size() == kMostWanted) break;
      if (Leads(*state, child.node)) state->wanted.push_back(child.id);
    }
  }
  std::ranges::sort(state->wanted);
  state->wanted.erase(std::ranges::unique(state->wanted).begin(), state->wanted.end());
}

int32_t TermPathsGuide::NumberOf(State state) {
  std::string key = state.has + std::to_string(state.node) + (state.in_word ? 'w' : '-') +
                    (state.opened ? 'o' : '-') + state.tail;
  const auto number = static_cast<int32_t>(states_.size());
  const auto [at, fresh] = numbers_.emplace(std::move(key), number);
  if (fresh) states_.push_back(std::move(state));
  return at->second;
}

}  // namespace attend
