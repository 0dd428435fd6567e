// Whether text runs on in a word, in the scripts that put spaces between words.
#ifndef ATTEND_TEXT_WORDS_H_
#define ATTEND_TEXT_WORDS_H_

#include <string_view>

namespace attend {

// A letter, a digit or a mark of a script that puts spaces between words. Letters of scripts that
// write words without spaces (Han, kana, Thai, Lao, Khmer, Burmese) and Hangul, whose particles
// follow numbers at once, are none.
bool JoinsWords(char32_t character);
// The last (the first) character does.
bool JoinsAtEnd(std::string_view text);
bool JoinsAtStart(std::string_view text);
// The last character is one after which a word begins without a space: an opening bracket or
// quotation mark, a dash or a slash, or a letter of a script that writes words without spaces.
bool OpensWord(std::string_view text);

}  // namespace attend

#endif  // ATTEND_TEXT_WORDS_H_
