#include "tasks/fusion/fusion_json.h"

#include "tasks/classification/classification_json.h"

namespace attend {

Json ItemToJson(const std::string& id, const ItemClassification& found, const std::string& error,
                int64_t top) {
  if (!error.empty()) return {{"id", id}, {"error", error}};
  Json contributions = Json::object();
  for (const InputContribution& each : found.contributions)
    contributions[each.input] = each.difference ? Json(*each.difference) : Json();
  return {{"id", id},
          {"classes", ClassesToJson(found, top)},
          {"contributions", contributions},
          {"cut", found.cut}};
}

}  // namespace attend
