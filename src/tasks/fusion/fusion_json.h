// What a model says of an item in JSON, as `attend classify` gives it.
#ifndef ATTEND_TASKS_FUSION_FUSION_JSON_H_
#define ATTEND_TASKS_FUSION_FUSION_JSON_H_

#include <cstdint>
#include <string>

#include "attend/classifier.h"
#include "base/json.h"

namespace attend {

// By input; null of the only one.
Json ContributionsToJson(const ItemClassification& found);

// {"id", "classes", "contributions", "cut"}; of an item that could not be read {"id", "error"}.
Json ItemToJson(const std::string& id, const ItemClassification& found, const std::string& error,
                int64_t top);

}  // namespace attend

#endif  // ATTEND_TASKS_FUSION_FUSION_JSON_H_
