#include "tasks/classification/classification_json.h"

#include <algorithm>

namespace attend {

std::span<const ClassProbability> LikeliestClasses(const Classification& found, int64_t top) {
  const std::span all(found.classes);
  return all.first(std::min(all.size(), static_cast<size_t>(top)));
}

Json ClassificationToJson(const std::string& text, const Classification& found, int64_t top) {
  Json classes = Json::array();
  for (const ClassProbability& each : LikeliestClasses(found, top))
    classes.push_back({{"label", each.label}, {"probability", each.probability}});
  return {{"text", text}, {"classes", std::move(classes)}, {"cut", found.cut}};
}

}  // namespace attend
