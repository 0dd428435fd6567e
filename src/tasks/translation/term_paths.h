// The terms of one sentence as a search needs them: how each is recognised in an output, and which
// tokens write it.
//
// Terms are recognised by text, however it is cut into tokens: whole words, in the letter case of
// the glossary or with a capital at the beginning. For the tokens there is a tree of the ways in
// which the vocabulary cuts each term, after a space and after what stands before a word without
// one, as "(" does; where endings are allowed, also of the tokens that hold the rest of the term
// and an ending.
#ifndef ATTEND_TASKS_TRANSLATION_TERM_PATHS_H_
#define ATTEND_TASKS_TRANSLATION_TERM_PATHS_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "search/wanted_terms.h"
#include "tasks/translation/token_texts.h"
#include "text/term_finder.h"

namespace attend {

// Immutable; safe to use from many threads.
class TermPaths : public WantedTerms {
 public:
  // Ids of a text; nothing where the vocabulary can't write it.
  using Encode = std::function<std::vector<int32_t>(const std::string& text)>;

  // Terms without a target that can be written are left out. Those with equal targets are one, to
  // be there as often. An output's text that is a part of several others' counts for each of them.
  // `texts` must outlive it.
  TermPaths(std::span<const FoundTerm> terms, const TokenTexts& texts, const Encode& encode);

  std::unique_ptr<TermGuide> Begin() const override;
  int64_t TokensLeft() const override { return tokens_left_; }
  std::span<const int32_t> Tokens() const override { return tokens_; }
  // How many there are, each as often as it is to be there.
  int64_t count() const;

 private:
  friend class TermPathsGuide;
  // Trees that begin after a space, and after what stands before a word without one.
  static constexpr int32_t kSpaced = 0, kJoined = 1;

  struct Term {
    uint8_t count = 0;   // at most 255
    int64_t tokens = 0;  // of the shortest way to write it after a space, which any output may take
  };
  struct Pattern {
    std::string text;
    int32_t term;
    bool inflect;
    bool joins;  // a letter or digit after it would be of the same word
  };
  // A place in a tree, and the fewest tokens that finish each term from there.
  struct Node {
    struct Child {
      int32_t id, node;
    };
    struct Left {
      int32_t term;
      int64_t tokens;
    };
    std::vector<Child> children;
    std::vector<Left> left;
  };

  void AddTarget(int32_t term, const TermTarget& target, const Encode& encode);
  void AddPattern(Pattern pattern);
  // The fewest tokens that finish the term on this path.
  int64_t AddPath(int32_t root, std::span<const int32_t> ids, int32_t term, bool inflect);
  int32_t Child(int32_t node, int32_t id, int32_t term, int64_t left);

  const TokenTexts& texts_;
  std::vector<Term> terms_;
  std::vector<Pattern> patterns_;
  std::array<std::vector<int32_t>, 256> begins_;  // patterns by their first byte
  std::vector<Node> nodes_;
  std::vector<int32_t> tokens_;
  int64_t tokens_left_ = 0;
};

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSLATION_TERM_PATHS_H_
