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

// By id: 1 if a piece shows nothing. Such pieces are white space, characters without width, and all
// special pieces except unk.
std::vector<uint8_t> BlankPieces(const Vocabulary& vocabulary);
// By id: 1 if a piece contains a letter or a digit, or may stand for one, as unk and bytes may.
std::vector<uint8_t> WordPieces(const Vocabulary& vocabulary);

}  // namespace attend

#endif  // ATTEND_TEXT_VISIBLE_TEXT_H_
