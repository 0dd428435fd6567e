// What a vocabulary does to capital letters.
#ifndef ATTEND_TEXT_LETTER_CASE_H_
#define ATTEND_TEXT_LETTER_CASE_H_

#include "attend/vocabulary.h"

namespace attend {

// Its normalisation makes them small ones.
bool LowerCases(const Vocabulary& vocabulary);

}  // namespace attend

#endif  // ATTEND_TEXT_LETTER_CASE_H_
