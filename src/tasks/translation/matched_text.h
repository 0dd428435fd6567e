// A text with a match of a translation memory behind it, for models that were taught to read one
// (Bulté and Tezcan, "Neural Fuzzy Repair", ACL 2019): SOURCE <memory> TARGET, where TARGET is the
// translation of a text like SOURCE. Such a model has the token in its vocabulary.
#ifndef ATTEND_TASKS_TRANSLATION_MATCHED_TEXT_H_
#define ATTEND_TASKS_TRANSLATION_MATCHED_TEXT_H_

#include <string>
#include <string_view>

#include "attend/vocabulary.h"

namespace attend {

inline constexpr std::string_view kMemoryToken = "<memory>";

// The model of this source vocabulary reads matches.
bool ReadsMatches(const Vocabulary& vocabulary);

std::string WithMatch(std::string_view source, std::string_view target);
// The source of WithMatch; a text without a match as it is.
std::string_view WithoutMatch(std::string_view text);

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSLATION_MATCHED_TEXT_H_
