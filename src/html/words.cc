#include "html/words.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <cstdint>

#include "text/lines.h"

namespace attend {
namespace {

bool IsPunctuation(UChar32 character) { return character >= 0 && u_ispunct(character) != 0; }

}  // namespace

Word WordAt(std::string_view text, size_t begin, size_t end) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  const auto limit = static_cast<int32_t>(end);
  auto first = static_cast<int32_t>(begin), last = limit;
  UChar32 character;
  for (int32_t next = first; next < limit; first = next) {
    U8_NEXT(bytes, next, limit, character);
    if (!IsPunctuation(character)) break;
  }
  for (int32_t before = last; before > first; last = before) {
    U8_PREV(bytes, first, before, character);
    if (!IsPunctuation(character)) break;
  }
  if (first == last) first = static_cast<int32_t>(begin), last = limit;  // nothing else
  return {begin, static_cast<size_t>(first), static_cast<size_t>(last), end};
}

bool IsCored(std::string_view text, const Word& word) {
  UChar32 character;
  size_t at = word.core_begin;
  U8_NEXT(reinterpret_cast<const uint8_t*>(text.data()), at, text.size(), character);
  return !IsPunctuation(character);
}

std::vector<Word> WordsOf(std::string_view text) {
  std::vector<Word> words;
  size_t done = 0;
  for (const size_t end : WordEnds(text)) {
    const size_t begin = std::min(text.find_first_not_of(" \t", done), end);
    words.push_back(WordAt(text, begin, end));
    done = end;
  }
  return words;
}

}  // namespace attend
