// Trees as symbols in a row: a constituent's opening and closing label, and for each word its tag
// (Vinyals et al. 2015, "Grammar as a Foreign Language", section 2).
#ifndef ATTEND_TEXT_TREE_SYMBOLS_H_
#define ATTEND_TEXT_TREE_SYMBOLS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attend/model_config.h"
#include "text/tree.h"

namespace attend {

// Tags of punctuation: those that evalb leaves out with their words.
bool IsPunctuationTag(std::string_view tag);

// Words that have these tags alone, and words that may have them. Other words have other tags.
struct PunctuationWords {
  std::vector<std::string> always, sometimes;  // in order of their bytes
};

enum class SymbolKind { kOpens, kCloses, kWord, kSpecial };

// The closed set of a model's symbols: for each constituent's label one that opens and one that
// closes, then the tags. Their ids rise in this order and leave out the special ids. Immutable;
// safe to use from many threads.
class TreeSymbols {
 public:
  TreeSymbols(std::vector<std::string> constituents, std::vector<std::string> tags,
              const SpecialIds& special);

  // Ids, special ones included, are below it.
  int64_t size() const { return std::ssize(kinds_); }
  SymbolKind kind(int32_t id) const { return kinds_[id]; }
  // The place of its label among the constituents or tags; -1 of a special id.
  int32_t label(int32_t id) const { return labels_[id]; }
  int32_t eos() const { return eos_; }
  const std::vector<std::string>& constituents() const { return constituents_; }
  const std::vector<std::string>& tags() const { return tags_; }
  int32_t Opening(int64_t constituent) const { return ids_[constituent]; }
  int32_t Closing(int64_t constituent) const { return ids_[constituents_.size() + constituent]; }
  int32_t Tag(int64_t tag) const { return ids_[2 * constituents_.size() + tag]; }

  // The ids of a tree's symbols. -1 stands for a label or tag that is not among them.
  std::vector<int32_t> Linearized(const Tree& tree) const;
  // And back; false for symbols that are no one tree over these words.
  bool TreeOf(std::span<const int32_t> ids, std::span<const std::string> words, Tree* tree) const;
  // "(S (NP DT NN NP) (VP VBZ VP) S)".
  std::string ToText(std::span<const int32_t> ids) const;

 private:
  std::vector<std::string> constituents_, tags_;
  int32_t eos_;
  std::vector<int32_t> ids_;       // by symbol
  std::vector<SymbolKind> kinds_;  // by id
  std::vector<int32_t> labels_;    // by id
  std::unordered_map<std::string, int32_t> constituent_of_, tag_of_;
};

}  // namespace attend

#endif  // ATTEND_TEXT_TREE_SYMBOLS_H_
