// Follows the terms of a sentence through its outputs.
#ifndef ATTEND_TASKS_TRANSLATION_TERM_GUIDE_H_
#define ATTEND_TASKS_TRANSLATION_TERM_GUIDE_H_

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tasks/translation/term_paths.h"

namespace attend {

// What an inflected word has beyond its term: few letters.
bool IsEnding(std::string_view text);

// A term counts once it is known that its word has ended, by what comes after it. Until then it is
// `ended` as far as the output goes. One owner; the paths must outlive it.
class TermPathsGuide : public TermGuide {
 public:
  explicit TermPathsGuide(const TermPaths* paths);

  int32_t Next(int32_t state, int32_t token) override;
  std::span<const int32_t> Wanted(int32_t state) const override { return states_[state].wanted; }
  int64_t TokensLeft(int32_t state) const override { return states_[state].left; }
  int64_t Missing(int32_t state) const override { return states_[state].missing; }

 private:
  struct State {
    std::string has;       // of each term, how often the output has it, as a byte
    std::string tail;      // the end of the output's text in which terms may have begun
    bool in_word = false;  // a letter or digit stands before the tail
    bool opened = false;   // the output ends in what may stand before a word without a space
    int32_t node = TermPaths::kSpaced;
    // These follow from the others.
    std::string ended = {};
    std::vector<int32_t> wanted = {};
    int64_t left = 0, missing = 0;
  };

  // Finds terms in the tail and `more`, which becomes the new tail.
  void Read(std::string_view more, State* state) const;
  // What a pattern is at the byte `begin` of a text, of which the bytes from `fresh` on are new.
  enum class Found { kNot, kBegun, kEnded, kWhole, kKnown };
  static Found Match(const TermPaths::Pattern& pattern, std::string_view text, size_t begin,
                     size_t fresh);
  // How often a term is still to be begun.
  int64_t Open(const State& state, int32_t term) const;
  bool Leads(const State& state, int32_t node) const;
  // `opened`: as the state was before the token.
  void Move(int32_t token, bool opened, State* state) const;
  void Finish(State* state) const;
  void SetWanted(State* state) const;
  int32_t NumberOf(State state);

  const TermPaths& paths_;
  std::deque<State> states_;
  std::unordered_map<std::string, int32_t> numbers_;
  std::unordered_map<uint64_t, int32_t> next_;  // by state and token
};

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSLATION_TERM_GUIDE_H_
