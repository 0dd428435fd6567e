#include "tasks/fusion/fusion_json.h"

#include "tasks/classification/classification_json.h"

namespace attend {

Json ContributionsToJson(const ItemClassification& found) {
  Json contributions = Json::object();
  for (const InputContribution& each : found.contributions)
    contributions[each.input] = each.difference ? Json(*each.difference) : Json();
  return contributions;
}

Json ItemToJson(const std::string& id, const ItemClassification& found, const std::string& error,
                int64_t top) {
  if (!error.empty()) return {{"id", id}, {"error", error}};
  return {{"id", id},
          {"classes", ClassesToJson(found, top)},
          {"contributions", ContributionsToJson(found)},
          {"cut", found.cut}};
}

}  // namespace attend
