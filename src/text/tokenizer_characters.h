// Characters as Hugging Face's tokenizers see them. Parts of that library know different versions
// of Unicode, so each function says which one it follows; its answer does not depend on ICU's.
#ifndef ATTEND_TEXT_TOKENIZER_CHARACTERS_H_
#define ATTEND_TEXT_TOKENIZER_CHARACTERS_H_

#include <unicode/normalizer2.h>

#include <string>

namespace attend {

// White_Space, the same in every version.
bool IsWhiteSpace(char32_t character);

// Unicode 8. A control, format or private-use character.
bool IsOther8(char32_t character);
// Unicode 8. Punctuation, and all of ASCII that is printed and neither letter nor digit.
bool IsPunctuation8(char32_t character);
// Unicode 8.
bool IsNonspacingMark8(char32_t character);

// Unicode 9. A mark of any kind.
bool IsMark9(char32_t character);

// Unicode 16.
bool IsLetter16(char32_t character);
bool IsNumber16(char32_t character);
// Unicode 16. A letter, mark, decimal digit, connector or joiner: \w of regular expressions.
bool IsWordCharacter16(char32_t character);

// Unicode 17. Appends the full lower-case mapping, whatever stands around the character.
void AppendLower17(char32_t character, std::string* text);

// Unicode 9. Later characters stay as they are.
enum class NormalizationForm { kNfc, kNfd, kNfkc, kNfkd };
const icu::Normalizer2& NormalizerOf9(NormalizationForm form);

}  // namespace attend

#endif  // ATTEND_TEXT_TOKENIZER_CHARACTERS_H_
