#include "text/words.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/utf8.h>

#include <algorithm>

namespace attend {

bool JoinsWords(char32_t character) {
  constexpr UScriptCode kWithoutSpaces[] = {USCRIPT_HAN,     USCRIPT_HIRAGANA, USCRIPT_KATAKANA,
                                            USCRIPT_THAI,    USCRIPT_LAO,      USCRIPT_KHMER,
                                            USCRIPT_MYANMAR, USCRIPT_HANGUL};
  const auto code = static_cast<UChar32>(character);
  if (!u_isalnum(code) && (U_GET_GC_MASK(code) & U_GC_M_MASK) == 0) return false;
  UErrorCode status = U_ZERO_ERROR;
  const UScriptCode script = uscript_getScript(code, &status);
  return std::find(std::begin(kWithoutSpaces), std::end(kWithoutSpaces), script) ==
         std::end(kWithoutSpaces);
}

namespace {

// Below 0: there is none, or a malformed one.
UChar32 LastCharacter(std::string_view text) {
  if (text.empty()) return U_SENTINEL;
  // A character has 4 bytes at most.
  text.remove_prefix(text.size() - std::min<size_t>(text.size(), 8));
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  auto at = static_cast<int32_t>(text.size());
  UChar32 character;
  U8_PREV(bytes, 0, at, character);
  return character;
}

}  // namespace

bool JoinsAtEnd(std::string_view text) {
  const UChar32 character = LastCharacter(text);
  return character >= 0 && JoinsWords(static_cast<char32_t>(character));
}

bool OpensWord(std::string_view text) {
  constexpr uint32_t kOpening = U_GC_PS_MASK | U_GC_PI_MASK | U_GC_PD_MASK;
  const UChar32 character = LastCharacter(text);
  if (character == '"' || character == '\'' || character == '/') return true;
  return character >= 0 && (U_GET_GC_MASK(character) & kOpening) != 0;
}

bool JoinsAtStart(std::string_view text) {
  if (text.empty()) return false;
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  int32_t at = 0;
  UChar32 character;
  U8_NEXT(bytes, at, static_cast<int32_t>(std::min<size_t>(text.size(), 8)), character);
  return character >= 0 && JoinsWords(static_cast<char32_t>(character));
}

}  // namespace attend
