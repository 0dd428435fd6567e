// Divides plain text into words as corpora of labelled words have them: punctuation by itself.
#ifndef ATTEND_TEXT_TEXT_WORDS_H_
#define ATTEND_TEXT_TEXT_WORDS_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

struct TextWord {
  size_t begin = 0, end = 0;  // bytes of the text
};

// White space divides; at the begin and at the end of what is between, each punctuation character
// is a word of its own. Not the full stop of an abbreviation (a letter alone, or with one inside:
// "U.S."). English 's, 're, 've, 'll, 'd and 'm are words of their own, and n't is, as in the Penn
// Treebank; U+2019 counts as '. Precondition: well-formed UTF-8.
std::vector<TextWord> WordsOfText(std::string_view text);

// The words with blanks between them; `where` gets where each of them stands.
std::string JoinWords(std::span<const std::string> words, std::vector<TextWord>* where = nullptr);

}  // namespace attend

#endif  // ATTEND_TEXT_TEXT_WORDS_H_
