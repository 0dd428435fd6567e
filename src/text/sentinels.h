// The tokens that stand for hidden spans of a text, one for each, and that begin what belongs there
// (Raffel et al. 2020, section 3.1.4).
#ifndef ATTEND_TEXT_SENTINELS_H_
#define ATTEND_TEXT_SENTINELS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attend/vocabulary.h"

namespace attend {

// As many as T5 has; and the most that a vocabulary may have.
inline constexpr int64_t kSentinels = 100;
inline constexpr int64_t kMostSentinels = 1000;

// T5's names: "<extra_id_0>".
std::string SentinelText(int64_t number);
// Of the vocabulary's, from number 0 on. Found by their names: T5's ids fall.
std::vector<int32_t> SentinelIds(const Vocabulary& vocabulary);

// A text for people, where `marks`, sentinels or the mask token, stand for spans.
std::string DecodeWithMarks(const Vocabulary& vocabulary, std::span<const int32_t> ids,
                            std::span<const int32_t> marks);

}  // namespace attend

#endif  // ATTEND_TEXT_SENTINELS_H_
