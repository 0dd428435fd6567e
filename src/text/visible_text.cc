#include "text/visible_text.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <string>

#include "text/case_marks.h"
#include "text/normalization.h"

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

// "<0x41>", as SentencePiece spells a byte.
bool IsByte(std::string_view piece) {
  return piece.size() == 6 && piece.starts_with("<0x") && piece.ends_with('>');
}

// Whether a piece may stand for another text than it is: a byte, a mark of case, a masked tab.
bool StandsForOther(std::string_view piece) {
  const bool mark = std::find(kCaseMarks.begin(), kCaseMarks.end(), piece) != kCaseMarks.end();
  return mark || IsByte(piece) || piece == kMaskedTab || piece == kMaskedSpaceSign;
}

// What a token says, as far as that is known of one alone.
std::string ShownText(const Vocabulary& vocabulary, int32_t id) {
  const std::string piece = vocabulary.Piece(id);
  const bool spells_bytes = vocabulary.type() == VocabularyType::kByteBpe;
  return spells_bytes || StandsForOther(piece) ? vocabulary.Decode({&id, 1}) : piece;
}

// Whether a token is bytes that may be a part of a character.
bool IsBytes(const Vocabulary& vocabulary, int32_t id) {
  constexpr std::string_view kReplacementCharacter = "\uFFFD";
  if (vocabulary.type() != VocabularyType::kByteBpe) return IsByte(vocabulary.Piece(id));
  return vocabulary.Decode({&id, 1}).find(kReplacementCharacter) != std::string::npos;
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
    const bool ends = id == special.pad || id == special.bos || id == special.eos;
    const bool hidden =
        vocabulary.IsControl(id) || !HasCharacter(ShownText(vocabulary, id), IsVisible);
    blank[id] = ends || (id != special.unk && hidden);
  }
  return blank;
}

std::vector<uint8_t> WordPieces(const Vocabulary& vocabulary) {
  std::vector<uint8_t> words(vocabulary.size());
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    words[id] = id == vocabulary.special_ids().unk || IsBytes(vocabulary, id) ||
                HasLetterOrDigit(ShownText(vocabulary, id));
  }
  return words;
}

}  // namespace attend
