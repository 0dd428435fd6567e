// The words by which segments of a translation memory are compared.
#ifndef ATTEND_MEMORY_MEMORY_WORDS_H_
#define ATTEND_MEMORY_MEMORY_WORDS_H_

#include <string_view>
#include <vector>

namespace attend {

// A run of letters, digits and marks is a word. Each other character is one, and so is each letter
// of a script that writes words without spaces (Han, kana, Thai, ...). White space divides. Views
// into the text, which is well-formed UTF-8.
std::vector<std::string_view> MemoryWords(std::string_view text);

}  // namespace attend

#endif  // ATTEND_MEMORY_MEMORY_WORDS_H_
