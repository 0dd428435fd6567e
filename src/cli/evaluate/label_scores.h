// What `attend evaluate` says of labels: entities of tagged sentences, classes of items.
#ifndef ATTEND_CLI_EVALUATE_LABEL_SCORES_H_
#define ATTEND_CLI_EVALUATE_LABEL_SCORES_H_

#include <string>

#include "base/json.h"
#include "base/log.h"
#include "metrics/classes.h"
#include "metrics/entities.h"

namespace attend {

// The last columns of two files of columns, sentence by sentence, whose labels are of entities.
// Warns where the files spell these by two schemes. Throws Error(kInput) that names the place of a
// label of another kind, or where the files differ in sentences or words.
EntityScores ScoreEntityFiles(const std::string& hypothesis, const std::string& reference,
                              const Log& log);

// The same of labels of any kind, each by itself.
ClassScores ScoreWordLabelFiles(const std::string& hypothesis, const std::string& reference);

// Two files of one class a line. Throws Error(kInput) for a line without one, and where the files
// have different numbers of lines.
ClassScores ScoreClassFiles(const std::string& hypothesis, const std::string& reference);

// With `width` decimal places. Classes have the name of their metric.
Json ToJson(const EntityScores& scores, int64_t width);
Json ToJson(const ClassScores& scores, int64_t width, const char* metric);

// A table for people.
std::string ToText(const EntityScores& scores, int64_t width);
std::string ToText(const ClassScores& scores, int64_t width);

}  // namespace attend

#endif  // ATTEND_CLI_EVALUATE_LABEL_SCORES_H_
