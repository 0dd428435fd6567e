// Which text says something: letters and digits, and what is to be seen at all.
#ifndef ATTEND_TEXT_VISIBLE_TEXT_H_
#define ATTEND_TEXT_VISIBLE_TEXT_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "attend/vocabulary.h"

namespace attend {

// A letter or a number of any script. Malformed UTF-8 is none.
bool HasLetterOrDigit(std::string_view text);

// By id: 1 where a piece shows nothing: white space, characters of no width, special pieces but
// unk.
std::vector<uint8_t> BlankPieces(const Vocabulary& vocabulary);
// By id: 1 where a piece has, or may stand for, a letter or a digit: unk and bytes do.
std::vector<uint8_t> WordPieces(const Vocabulary& vocabulary);

}  // namespace attend

#endif  // ATTEND_TEXT_VISIBLE_TEXT_H_
