#include "text/words.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/utf8.h>

#include <algorithm>

namespace attend {

namespace {

UScriptCode ScriptOf(UChar32 character) {
  UErrorCode status = U_ZERO_ERROR;
  return uscript_getScript(character, &status);
}

// Writes words without spaces.
bool IsUnspaced(UScriptCode script) {
  constexpr UScriptCode kUnspaced[] = {USCRIPT_HAN,    USCRIPT_HIRAGANA, USCRIPT_KATAKANA,
                                       USCRIPT_THAI,   USCRIPT_LAO,      USCRIPT_KHMER,
                                       USCRIPT_MYANMAR};
  return std::find(std::begin(kUnspaced), std::end(kUnspaced), script) != std::end(kUnspaced);
}

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

bool JoinsWords(char32_t character) {
  const auto code = static_cast<UChar32>(character);
  if (!u_isalnum(code) && (U_GET_GC_MASK(code) & U_GC_M_MASK) == 0) return false;
  const UScriptCode script = ScriptOf(code);
  return !IsUnspaced(script) && script != USCRIPT_HANGUL;
}

bool JoinsAtEnd(std::string_view text) {
  const UChar32 character = LastCharacter(text);
  return character >= 0 && JoinsWords(static_cast<char32_t>(character));
}

bool OpensWord(std::string_view text) {
  constexpr uint32_t kOpening = U_GC_PS_MASK | U_GC_PI_MASK | U_GC_PD_MASK;
  const UChar32 character = LastCharacter(text);
  if (character == '"' || character == '\'' || character == '/') return true;
  if (character < 0) return false;
  return (U_GET_GC_MASK(character) & kOpening) != 0 || IsUnspaced(ScriptOf(character));
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
