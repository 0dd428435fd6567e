// Finds the terms of a glossary in a text: whole words, the longest term first.
#ifndef ATTEND_TEXT_TERM_FINDER_H_
#define ATTEND_TEXT_TERM_FINDER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attend/translator.h"

namespace attend {

// What an inflected word may have beyond its term, in letters.
inline constexpr int64_t kMostEnding = 3;

// A way to write a term.
struct TermTarget {
  std::string text;
  bool inflect = false;
  bool operator==(const TermTarget&) const = default;
};

// A term in a text.
struct FoundTerm {
  size_t begin = 0, end = 0;  // bytes of the text
  std::vector<TermTarget> targets;
};

// Immutable; safe to use from many threads.
class TermFinder {
 public:
  // Precondition: no source is empty or blank.
  explicit TermFinder(std::span<const GlossaryTerm> terms);

  // In order, without overlap: from the left, at each word the longest term that begins there. Its
  // targets are those of all terms that are found in just that place. Texts compare in NFC, and a
  // run of white space equals a space. Precondition: well-formed UTF-8.
  std::vector<FoundTerm> Find(std::string_view text) const;

 private:
  struct Entry {
    std::u32string source;
    TermTarget target;
    bool ignore_case, inflect, keep;
  };
  // A text as characters, with the byte that each begins at, and the text's size.
  struct Characters {
    std::u32string text;
    std::vector<size_t> begins;
  };
  static Characters CharactersOf(std::string_view text);
  // The first word, or first character that is in none, in small letters.
  static std::u32string KeyOf(std::u32string_view text);
  // Where the entry ends in the text if it stands at `begin`; 0: it does not.
  static size_t EndOf(const Entry& entry, std::u32string_view text, size_t begin);

  std::vector<Entry> entries_;
  std::unordered_map<std::u32string, std::vector<size_t>> by_key_;  // entries, rising
};

// How many of the terms of a text a translation has, which no search of terms wrote: each as often
// as the text has it, as a whole word in the letter case of the glossary or with a capital at the
// beginning. A word of targets that several terms have may count for each. Malformed UTF-8 is
// repaired.
int64_t CountTerms(std::span<const FoundTerm> terms, std::string_view translation);

}  // namespace attend

#endif  // ATTEND_TEXT_TERM_FINDER_H_
