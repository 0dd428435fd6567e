// Words of a text, and the punctuation around them.
#ifndef ATTEND_HTML_WORDS_H_
#define ATTEND_HTML_WORDS_H_

#include <cstddef>
#include <string_view>
#include <vector>

namespace attend {

// Bytes of a text. Punctuation may stand around its core.
struct Word {
  size_t begin, core_begin, core_end, end;
};

// What stands between `begin` and `end`; the core is all where there is punctuation alone.
Word WordAt(std::string_view text, size_t begin, size_t end);

// As WordEnds cuts them.
std::vector<Word> WordsOf(std::string_view text);

// Not punctuation alone.
bool IsCored(std::string_view text, const Word& word);

}  // namespace attend

#endif  // ATTEND_HTML_WORDS_H_
