// What keeps a parser's output a tree over exactly the words of its sentence.
#ifndef ATTEND_TASKS_PARSING_TREE_RULES_H_
#define ATTEND_TASKS_PARSING_TREE_RULES_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "search/output_rules.h"
#include "text/tree_symbols.h"

namespace attend {

// Brackets that may open without a word between them: more than treebanks have, and an end to chains
// of constituents over the same words.
inline constexpr int64_t kMostOpenings = 16;
// Constituents in each other.
inline constexpr int64_t kMostOpen = 400;

// What a model's symbols forbid by the label that is open and the kinds that may come. Immutable.
class TreeGrammar {
 public:
  explicit TreeGrammar(TreeSymbols symbols);

  const TreeSymbols& symbols() const { return symbols_; }
  // All ids but of the kinds that may come; of closing ones `open`'s alone, -1 where none is open.
  std::span<const int32_t> Never(int32_t open, bool opens, bool word, bool closes) const {
    return never_[(8 * (open + 1)) + (opens ? 4 : 0) + (word ? 2 : 0) + (closes ? 1 : 0)];
  }

 private:
  const TreeSymbols symbols_;
  std::vector<std::vector<int32_t>> never_;
};

// An output begins with the opening of the outermost constituent. Each constituent has a child and
// closes with its own label; the outermost one does when all words are there, and eos follows.
class TreeRules : public OutputRules {
 public:
  // `words`: where the first token of each word stands in the source, and after them its last id.
  // Preconditions: there is a word; max_length is at least LeastLength of them.
  TreeRules(std::shared_ptr<const TreeGrammar> grammar, std::vector<int32_t> words,
            int64_t max_length);
  std::unique_ptr<OutputGuide> Begin() const override;

  // One constituent around the words, and eos.
  static int64_t LeastLength(int64_t words) { return words + 3; }

 private:
  const std::shared_ptr<const TreeGrammar> grammar_;
  const std::vector<int32_t> words_;
  const int64_t max_length_;
};

}  // namespace attend

#endif  // ATTEND_TASKS_PARSING_TREE_RULES_H_
