// Counts the characters of a text that a vocabulary has no piece for.
#ifndef ATTEND_TEXT_UNKNOWN_CHARACTERS_H_
#define ATTEND_TEXT_UNKNOWN_CHARACTERS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attend/vocabulary.h"
#include "base/json.h"

namespace attend {

// Those of a line that the vocabulary has no piece for, in order and as normalised, without white
// space.
std::u32string UnknownCharactersOf(const Vocabulary& vocabulary, std::string_view line);

// White space is not counted.
struct UnknownCharacters {
  int64_t characters = 0;              // of the text
  int64_t unknown = 0;                 // of them without a piece
  std::map<char32_t, int64_t> counts;  // of each unknown one, as normalised

  double Share() const;
  void Add(const UnknownCharacters& next);
  // The most frequent unknown ones first.
  std::vector<std::pair<char32_t, int64_t>> MostFrequent(size_t most) const;
  // "U+4E2D 中 (7), U+1F600 😀 (5)".
  std::string MostFrequentText() const;
  // "12 of 3400 characters (0.35 %), most often U+4E2D 中 (7), U+1F600 😀 (5)".
  std::string Text() const;
};

// {"characters": 3400, "unknown": 12, "most_frequent": {"U+4E2D 中": 7}}
Json ToJson(const UnknownCharacters& unknown);

// Counts line after line. One thread at a time.
class UnknownCounter {
 public:
  explicit UnknownCounter(std::shared_ptr<const Vocabulary> vocabulary);
  // Whether the line had any.
  bool Add(std::string_view line);
  const UnknownCharacters& found() const { return found_; }

 private:
  bool IsKnown(char32_t character);

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::vector<uint8_t> known_;  // by code point: 0 not asked yet, 1 has pieces, 2 perhaps not
  UnknownCharacters found_;
};

}  // namespace attend

#endif  // ATTEND_TEXT_UNKNOWN_CHARACTERS_H_
