// What `attend evaluate` says of constituency trees.
#ifndef ATTEND_CLI_EVALUATE_BRACKET_SCORES_H_
#define ATTEND_CLI_EVALUATE_BRACKET_SCORES_H_

#include <string>

#include "base/json.h"
#include "base/log.h"
#include "metrics/brackets.h"

namespace attend {

// Two files of a tree a line. Warns of sentences that do not count. Throws Error(kInput) where the
// files have different numbers of lines, or none.
BracketScores ScoreBracketFiles(const std::string& hypothesis, const std::string& reference,
                                const Log& log);

// With `width` decimal places.
Json ToJson(const BracketScores& scores, int64_t width);
// For people, as evalb writes them.
std::string ToText(const BracketScores& scores, int64_t width);

}  // namespace attend

#endif  // ATTEND_CLI_EVALUATE_BRACKET_SCORES_H_
