// Classes of a text in JSON, as `attend classify` and the service give them.
#ifndef ATTEND_TASKS_CLASSIFICATION_CLASSIFICATION_JSON_H_
#define ATTEND_TASKS_CLASSIFICATION_CLASSIFICATION_JSON_H_

#include <cstdint>
#include <span>
#include <string>

#include "attend/classifier.h"
#include "base/json.h"

namespace attend {

// At most `top` of them.
std::span<const ClassProbability> LikeliestClasses(const Classification& found, int64_t top);
Json ClassificationToJson(const std::string& text, const Classification& found, int64_t top);

}  // namespace attend

#endif  // ATTEND_TASKS_CLASSIFICATION_CLASSIFICATION_JSON_H_
