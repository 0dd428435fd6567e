// The normalisation that a vocabulary file carries, in SentencePiece's form: a map from character
// sequences to their replacement, longest match first, compiled into a double-array trie.
#ifndef ATTEND_TEXT_NORMALIZATION_H_
#define ATTEND_TEXT_NORMALIZATION_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

enum class Normalization {
  kNone,  // text as it is, white space included
  kNfkc,  // NFKC; control characters dropped, odd spaces made plain and joined: SentencePiece's
          // nmt_nfkc, but for the zero-width space and non-joiner and the direction marks, which
          // it takes for spaces and which are kept here
};

// What becomes of capital letters.
enum class LetterCase {
  kKeep,
  kLower,   // they become small
  kFactor,  // they become small, and marks say where they were (text/case_marks.h)
};

// From code points to code points, as SentencePiece's rules have them.
using CharacterMap = std::map<std::u32string, std::u32string>;

// The rules inside a compiled map. Throws Error(kInput) for a damaged one; `where` opens the
// message.
CharacterMap DecompileCharacterMap(std::string_view compiled, const std::string& where);

// Throws Error(kInput) where following a compiled map of a SentencePiece model file could leave it,
// or where the file has no normalisation. Looks at every map there is: parts that stand twice are
// one to SentencePiece, and what undoes the normalisation has a map too.
void CheckCharacterMaps(std::string_view model, const std::string& where);

// The compiled map for normalisation, for kLower followed by lower-casing: each code point's full
// lower-case mapping of the Unicode Standard, as Python's str.lower() but for capital sigma, which
// becomes σ at the end of a word too. It is not case folding: ß stays ß.
std::string CompileCharacterMap(Normalization normalization, LetterCase letter_case);

// The name under which a vocabulary file has its normalisation.
std::string NormalizationName(Normalization normalization, LetterCase letter_case);

// SentencePiece takes U+2581 for its own sign of a space, and tab for one of training. With kNone
// they are masked by code points that Unicode keeps out of texts.
inline constexpr std::string_view kSpaceSign = "\u2581", kMaskedSpaceSign = "\uFDD0",
                                  kMaskedTab = "\uFDD1";

// The part of a vocabulary file that unmasks decoded text.
std::string UnmaskingPart();

// What a vocabulary file says: that it has such a part, that it marks case, its symbols that are
// always one piece. They throw Error(kInput) for a damaged file.
bool UndoesMasks(std::string_view model, const std::string& where);
bool MarksCase(std::string_view model, const std::string& where);
std::vector<std::string> UserDefinedSymbols(std::string_view model, const std::string& where);

}  // namespace attend

#endif  // ATTEND_TEXT_NORMALIZATION_H_
