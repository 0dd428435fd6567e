// A sentence that is too long for a model, in parts.
#ifndef ATTEND_TEXT_OVERLONG_PARTS_H_
#define ATTEND_TEXT_OVERLONG_PARTS_H_

#include <functional>
#include <string_view>
#include <vector>

#include "text/text_parts.h"

namespace attend {

// Parts that fit, as few as come of cutting between clauses. A clause that does not fit is cut
// between words, a word between characters (grapheme clusters), one of these between code points. A
// span is cut only where it does not fit alone. Only white space stands between parts. A code point
// that does not fit alone is a part too. `fits` as for GroupParts.
std::vector<TextPart> FittingParts(std::string_view sentence,
                                   const std::function<bool(std::string_view part)>& fits,
                                   const std::vector<TextPart>& spans = {});

}  // namespace attend

#endif  // ATTEND_TEXT_OVERLONG_PARTS_H_
