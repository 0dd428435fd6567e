// The normalisation that a vocabulary file carries, in SentencePiece's form: a map from character
// sequences to their replacement, longest match first, compiled into a double-array trie.
#ifndef ATTEND_TEXT_NORMALIZATION_H_
#define ATTEND_TEXT_NORMALIZATION_H_

#include <map>
#include <string>
#include <string_view>

namespace attend {

enum class Normalization {
  kNone,  // text as it is, white space included
  kNfkc,  // SentencePiece's nmt_nfkc: NFKC, control characters dropped, odd spaces made plain and
          // joined
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

// The compiled map for normalisation followed by lower-casing: each code point's full lower-case
// mapping of the Unicode Standard, as Python's str.lower() but for capital sigma, which becomes σ
// at the end of a word too. It is not case folding: ß stays ß.
std::string CompileLowerCasingMap(Normalization normalization);

}  // namespace attend

#endif  // ATTEND_TEXT_NORMALIZATION_H_
