// What a vocabulary does to capital letters.
#ifndef ATTEND_TEXT_LETTER_CASE_H_
#define ATTEND_TEXT_LETTER_CASE_H_

#include "attend/vocabulary.h"
#include "text/normalization.h"

namespace attend {

LetterCase CaseOf(const Vocabulary& vocabulary);

}  // namespace attend

#endif  // ATTEND_TEXT_LETTER_CASE_H_
