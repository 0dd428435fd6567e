// A translation memory: segments with their translations, and a search for those near a text.
//
// The score of a match, from 0 to 100: 100 (1 - d / n), where d is Levenshtein's distance in words
// (MemoryWords, capitals count) and n the number of words of the longer one. 100 is an exact match:
// the same words, though white space may differ.
#ifndef ATTEND_MEMORY_TRANSLATION_MEMORY_H_
#define ATTEND_MEMORY_TRANSLATION_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/fields.h"

namespace attend {

struct MemoryUnit {
  std::string source, target;  // well-formed UTF-8
};

struct MemoryMatch {
  double score = 0;
  std::string source, target;
};

struct MatchOptions {
  double threshold = 70;  // the least score
  int64_t most = 5;
  bool exact = true;  // false: no match of score 100
  // Bounds the work of one search: once so many pairs of words are compared, what is found by then
  // counts. Units that share the text's rarest words are compared first. 0: no bound.
  int64_t most_work = 0;
};
// Named memory_threshold, which is `least_threshold` at least, and memory_matches.
FieldList Fields(MatchOptions& options, double least_threshold = 1);

// Safe to use from many threads.
class TranslationMemory {
 public:
  // Units without words in source or target are left out, and so is one that stands again later.
  explicit TranslationMemory(std::vector<MemoryUnit> units);

  // The best matches, the best first; of equal scores the unit that was given last. They are those
  // of a comparison with every unit (but for most_work); an index finds what may come near. A text
  // of more than 10000 words has none.
  std::vector<MemoryMatch> Find(std::string_view text, const MatchOptions& options) const;

  int64_t size() const { return std::ssize(units_); }
  // The units, by length of their sources.
  std::span<const MemoryUnit> units() const { return units_; }

 private:
  struct ViewHash {
    using is_transparent = void;  // NOLINT: the standard library's name
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  // A range of units, by index.
  struct Range {
    uint32_t begin = 0, end = 0;
  };
  std::vector<uint32_t> IdsOf(std::string_view text) const;
  std::span<const uint32_t> WordsOf(uint32_t unit) const;
  std::span<const uint32_t> UnitsWith(uint32_t word, Range range) const;
  // Units whose number of words is in this range.
  Range WithLength(double least, double most) const;
  // Units that may have this score, each once. Those that share the rarest words come first.
  std::vector<uint32_t> Candidates(std::span<const uint32_t> words, double threshold) const;
  void MakeIndex();

  std::vector<MemoryUnit> units_;  // by their numbers of words
  std::vector<uint32_t> order_;    // of each unit, when it was given
  std::unordered_map<std::string, uint32_t, ViewHash, std::equal_to<>> ids_;
  std::vector<uint32_t> words_;        // of all units, one after another
  std::vector<uint64_t> word_starts_;  // of each unit in words_; one more at the end
  std::vector<uint32_t> with_;         // of each word the units that have it, ascending
  std::vector<uint64_t> with_starts_;  // of each word in with_; one more at the end
};

}  // namespace attend

#endif  // ATTEND_MEMORY_TRANSLATION_MEMORY_H_
