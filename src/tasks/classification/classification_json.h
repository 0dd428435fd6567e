// Classes of a text or a picture as text and JSON, as `attend classify` and the service give them.
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
// The same as text: label<TAB>probability, with tabs between them.
std::string ClassesToLine(const Classification& found, int64_t top);
Json ClassesToJson(const Classification& found, int64_t top);
Json ClassificationToJson(const std::string& text, const Classification& found, int64_t top);
// Of a picture that could not be read, `error` says why.
Json PictureToJson(const std::string& picture, const Classification& found,
                   const std::string& error, int64_t top);

}  // namespace attend

#endif  // ATTEND_TASKS_CLASSIFICATION_CLASSIFICATION_JSON_H_
