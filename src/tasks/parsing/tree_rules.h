// What keeps a parser's output a tree over exactly the words of its sentence.
#ifndef ATTEND_TASKS_PARSING_TREE_RULES_H_
#define ATTEND_TASKS_PARSING_TREE_RULES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "search/output_rules.h"
#include "text/tree_symbols.h"

namespace attend {

// Brackets that may open without a word between them: more than treebanks have, and an end to
// chains of constituents over the same words.
inline constexpr int64_t kMostOpenings = 16;
// Constituents in each other.
inline constexpr int64_t kMostOpen = 400;

// Which tags a word may have.
enum class WordKind { kAny, kPunctuation, kOther };

// What may come: opening brackets, a word of a kind, the closing bracket of the label `open` (-1:
// none is open).
struct MayCome {
  int32_t open = -1;
  bool opens = false, word = false, closes = false;
  WordKind kind = WordKind::kAny;
};

// What a model's symbols forbid, and which words are punctuation. Immutable.
class TreeGrammar {
 public:
  // Without `punctuation` any word may have any tag.
  explicit TreeGrammar(TreeSymbols symbols,
                       const std::optional<PunctuationWords>& punctuation = {});

  const TreeSymbols& symbols() const { return symbols_; }
  WordKind KindOf(const std::string& word) const;
  // All ids but of what may come, and eos.
  std::span<const int32_t> Never(const MayCome& may) const {
    return never_[PlaceOf(may.open, (may.opens ? 4 : 0) + (may.word ? 2 : 0) + (may.closes ? 1 : 0),
                          may.kind)];
  }

 private:
  static constexpr int64_t kKinds = 3, kChoices = 8;
  static int64_t PlaceOf(int64_t open, int64_t may, WordKind kind) {
    return ((open + 1) * kChoices + may) * kKinds + static_cast<int64_t>(kind);
  }

  const TreeSymbols symbols_;
  bool tells_punctuation_;
  std::unordered_map<std::string, WordKind> kinds_;  // others are kOther
  std::vector<std::vector<int32_t>> never_;
};

// An output begins with the opening of the outermost constituent. Each constituent has a child and
// closes with its own label; the outermost one does when all words are there, and eos follows.
class TreeRules : public OutputRules {
 public:
  // `places`: where the first token of each word stands in the source, and after them its last id.
  // Preconditions: there is a word; max_length is at least LeastLength of them.
  TreeRules(std::shared_ptr<const TreeGrammar> grammar, std::span<const std::string> words,
            std::vector<int32_t> places, int64_t max_length);
  std::unique_ptr<OutputGuide> Begin() const override;

  // One constituent around the words, and eos.
  static int64_t LeastLength(int64_t words) { return words + 3; }

 private:
  const std::shared_ptr<const TreeGrammar> grammar_;
  std::vector<WordKind> kinds_;
  const std::vector<int32_t> places_;
  const int64_t max_length_;
};

}  // namespace attend

#endif  // ATTEND_TASKS_PARSING_TREE_RULES_H_
