// Tokens that a vocabulary has several of, told apart by a number in their text: placeholders and
// sentinels.
#ifndef ATTEND_TEXT_NUMBERED_TOKENS_H_
#define ATTEND_TEXT_NUMBERED_TOKENS_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "attend/vocabulary.h"

namespace attend {

// Their ids by number, from 0 to the first that the vocabulary lacks; `most` at most.
std::vector<int32_t> NumberedIds(const Vocabulary& vocabulary,
                                 const std::function<std::string(int64_t)>& text,
                                 int64_t most = std::numeric_limits<int64_t>::max());

}  // namespace attend

#endif  // ATTEND_TEXT_NUMBERED_TOKENS_H_
