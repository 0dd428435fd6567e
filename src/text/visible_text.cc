#include "text/visible_text.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <string>

#include "text/tokenizer.h"

namespace attend {
namespace {

// Whether a character of the text is as wanted.
template <class Wanted>
bool HasCharacter(std::string_view text, Wanted wanted) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  const auto size = static_cast<int32_t>(text.size());
  for (int32_t next = 0; next < size;) {
    UChar32 character;
    U8_NEXT(bytes, next, size, character);
    if (wanted(character)) return true;
  }
  return false;
}

bool IsVisible(UChar32 character) {
  constexpr UChar32 kPieceSpace = 0x2581;  // SentencePiece's mark for a space
  return character < 0 ||
         (character != kPieceSpace && !u_isUWhiteSpace(character) && !u_iscntrl(character) &&
          !u_hasBinaryProperty(character, UCHAR_DEFAULT_IGNORABLE_CODE_POINT));
}

}  // namespace

bool HasLetterOrDigit(std::string_view text) {
  return HasCharacter(text, [](UChar32 character) {
    return character >= 0 && (U_GET_GC_MASK(character) & (U_GC_L_MASK | U_GC_N_MASK)) != 0;
  });
}

std::vector<uint8_t> BlankPieces(const Vocabulary& vocabulary) {
  const SpecialIds special = vocabulary.special_ids();
  std::vector<uint8_t> blank(vocabulary.size());
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const bool control = id == special.pad || id == special.bos || id == special.eos;
    blank[id] = control || (id != special.unk &&
                            !HasCharacter(vocabulary.tokenizer().TextOf(id).text, IsVisible));
  }
  return blank;
}

std::vector<uint8_t> WordPieces(const Vocabulary& vocabulary) {
  std::vector<uint8_t> words(vocabulary.size());
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const TokenText shown = vocabulary.tokenizer().TextOf(id);
    words[id] = id == vocabulary.special_ids().unk || shown.bytes || HasLetterOrDigit(shown.text);
  }
  return words;
}

}  // namespace attend
