// A sentence that is too long for a model, in parts.
#ifndef ATTEND_TEXT_OVERLONG_PARTS_H_
#define ATTEND_TEXT_OVERLONG_PARTS_H_

#include <functional>
#include <string_view>
#include <vector>

#include "text/text_parts.h"

namespace attend {

// Cuts the sentence between clauses, into as few parts that fit as possible. It cuts a clause that
// does not fit between words, a word between characters (grapheme clusters), and such a character
// between code points. It cuts a span only if the span alone does not fit. Only white space is left
// out between parts. A code point that does not fit is still a part. `fits`: as for GroupParts.
std::vector<TextPart> FittingParts(std::string_view sentence,
                                   const std::function<bool(std::string_view part)>& fits,
                                   const std::vector<TextPart>& spans = {});

}  // namespace attend

#endif  // ATTEND_TEXT_OVERLONG_PARTS_H_
