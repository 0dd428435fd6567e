// What `attend evaluate` says of labels: entities of tagged sentences, classes of items.
#ifndef ATTEND_CLI_EVALUATE_LABEL_SCORES_H_
#define ATTEND_CLI_EVALUATE_LABEL_SCORES_H_

#include <string>

#include "base/json.h"
#include "metrics/classes.h"
#include "metrics/entities.h"

namespace attend {

// The last columns of two files of columns, sentence by sentence. Throws Error(kInput) that names
// the place where they differ in sentences or words.
EntityScores ScoreEntityFiles(const std::string& hypothesis, const std::string& reference);

// Two files of one class a line. Throws Error(kInput) where they have different numbers of lines.
ClassScores ScoreClassFiles(const std::string& hypothesis, const std::string& reference);

// With `width` decimal places.
Json ToJson(const EntityScores& scores, int64_t width);
Json ToJson(const ClassScores& scores, int64_t width);

// A table for people.
std::string ToText(const EntityScores& scores, int64_t width);
std::string ToText(const ClassScores& scores, int64_t width);

}  // namespace attend

#endif  // ATTEND_CLI_EVALUATE_LABEL_SCORES_H_
