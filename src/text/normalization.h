// The normalisation inside a vocabulary file, in SentencePiece's format. It is a map from character
// sequences to replacements, compiled into a double-array trie. The longest match applies.
#ifndef ATTEND_TEXT_NORMALIZATION_H_
#define ATTEND_TEXT_NORMALIZATION_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

enum class Normalization {
  kNone,  // text as it is, white space included
  kNfkc,  // NFKC without control characters, and with one plain space for each run of white space.
          // It is SentencePiece's nmt_nfkc, except that the zero-width space and non-joiner and
          // the direction marks are kept. (nmt_nfkc makes them spaces.)
};

// What becomes of capital letters.
enum class LetterCase {
  kKeep,
  kLower,   // text is lower-cased
  kFactor,  // text is lower-cased, and marks say where capitals were (text/case_marks.h)
};

// From code points to code points, as SentencePiece's rules have them.
using CharacterMap = std::map<std::u32string, std::u32string>;

// The rules of a compiled map. Throws Error(kInput) if it is damaged. The message begins with
// `where`.
CharacterMap DecompileCharacterMap(std::string_view compiled, const std::string& where);

// Checks the compiled maps of a SentencePiece model file. Throws Error(kInput) if a lookup could
// read outside a map, or if the file has no normalisation. It checks every map: a file may repeat a
// part, and the denormalisation has a map too.
void CheckCharacterMaps(std::string_view model, const std::string& where);

// The compiled map of a normalisation. With kLower it also maps each code point to its full
// lower-case mapping (The Unicode Standard, section 5.18). That equals Python's str.lower(), except
// that capital sigma becomes σ at the end of a word too. It is not case folding: ß stays ß.
std::string CompileCharacterMap(Normalization normalization, LetterCase letter_case);

// The name of the normalisation in a vocabulary file.
std::string NormalizationName(Normalization normalization, LetterCase letter_case);

// SentencePiece uses U+2581 as its mark for a space, and tab as a separator in training. With kNone
// these two are replaced by noncharacters, which Unicode reserves for internal use.
inline constexpr std::string_view kSpaceSign = "\u2581", kMaskedSpaceSign = "\uFDD0",
                                  kMaskedTab = "\uFDD1";

// The part of a vocabulary file that puts them back into decoded text.
std::string UnmaskingPart();

// Facts about a vocabulary file: whether it has such a part, whether it marks case, and which
// symbols are always one piece. They throw Error(kInput) if the file is damaged.
bool UndoesMasks(std::string_view model, const std::string& where);
bool MarksCase(std::string_view model, const std::string& where);
std::vector<std::string> UserDefinedSymbols(std::string_view model, const std::string& where);

}  // namespace attend

#endif  // ATTEND_TEXT_NORMALIZATION_H_
