// Whether text runs on in a word, in the scripts that put spaces between words.
#ifndef ATTEND_TEXT_WORDS_H_
#define ATTEND_TEXT_WORDS_H_

#include <string_view>

namespace attend {

// The last (the first) character is a letter, a digit or a mark. Letters of scripts that write
// words without spaces (Han, kana, Thai, Lao, Khmer, Burmese) and Hangul, whose particles follow
// numbers at once, are none.
bool JoinsAtEnd(std::string_view text);
bool JoinsAtStart(std::string_view text);

}  // namespace attend

#endif  // ATTEND_TEXT_WORDS_H_
