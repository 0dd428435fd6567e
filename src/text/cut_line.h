// Cuts lines that are too long for what reads them whole.
#ifndef ATTEND_TEXT_CUT_LINE_H_
#define ATTEND_TEXT_CUT_LINE_H_

#include <cstddef>
#include <string_view>
#include <vector>

namespace attend {

// Characters of the line's longest word (divided by spaces). The line is UTF-8.
size_t LongestWord(std::string_view line);

// The line in parts of at most `most` characters: cut at a space, which no part has then, or inside
// of a word that is longer. A short line is its only part. Precondition: `most` is at least 1.
std::vector<std::string_view> CutLine(std::string_view line, size_t most);

}  // namespace attend

#endif  // ATTEND_TEXT_CUT_LINE_H_
