#include "memory/memory_words.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <cstddef>
#include <cstdint>

#include "text/words.h"

namespace attend {

std::vector<std::string_view> MemoryWords(std::string_view text) {
  std::vector<std::string_view> words;
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  const auto end = static_cast<int32_t>(text.size());
  bool joins = false;  // the character before belongs to a word that may go on
  for (int32_t at = 0; at < end;) {
    const int32_t begin = at;
    UChar32 character;
    U8_NEXT(bytes, at, end, character);
    if (character >= 0 && u_isUWhiteSpace(character)) {
      joins = false;
      continue;
    }
    const auto length = static_cast<size_t>(at - begin);
    const std::string_view view = text.substr(static_cast<size_t>(begin), length);
    const bool letter = JoinsAtStart(view);
    if (letter && joins) {
      words.back() = {words.back().data(), words.back().size() + length};
    } else {
      words.push_back(view);
    }
    joins = letter;
  }
  return words;
}

}  // namespace attend
