#include "tasks/classification/classification_json.h"

#include <fmt/format.h>

#include <algorithm>

namespace attend {

std::span<const ClassProbability> LikeliestClasses(const Classification& found, int64_t top) {
  const std::span all(found.classes);
  return all.first(std::min(all.size(), static_cast<size_t>(top)));
}

std::string ClassesToLine(const Classification& found, int64_t top) {
  std::string line;
  for (const ClassProbability& each : LikeliestClasses(found, top))
    line += fmt::format("{}{}\t{:.4f}", line.empty() ? "" : "\t", each.label, each.probability);
  return line;
}

Json ClassesToJson(const Classification& found, int64_t top) {
  Json classes = Json::array();
  for (const ClassProbability& each : LikeliestClasses(found, top))
    classes.push_back({{"label", each.label}, {"probability", each.probability}});
  return classes;
}

Json ClassificationToJson(const std::string& text, const Classification& found, int64_t top) {
  return {{"text", text}, {"classes", ClassesToJson(found, top)}, {"cut", found.cut}};
}

Json PictureToJson(const std::string& picture, const Classification& found,
                   const std::string& error, int64_t top) {
  if (!error.empty()) return {{"picture", picture}, {"error", error}};
  return {{"picture", picture}, {"classes", ClassesToJson(found, top)}};
}

}  // namespace attend
