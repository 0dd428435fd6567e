// Matches of a translation memory as answers have them.
#ifndef ATTEND_MEMORY_MATCH_JSON_H_
#define ATTEND_MEMORY_MATCH_JSON_H_

#include <span>

#include "base/json.h"
#include "memory/translation_memory.h"

namespace attend {

// [{"score": 80.0, "source": ..., "target": ...}], the best first.
Json MatchesToJson(std::span<const MemoryMatch> matches);

}  // namespace attend

#endif  // ATTEND_MEMORY_MATCH_JSON_H_
