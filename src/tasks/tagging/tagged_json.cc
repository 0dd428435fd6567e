#include "tasks/tagging/tagged_json.h"

#include <algorithm>
#include <vector>

#include "text/entity_labels.h"

namespace attend {
namespace {

Json PartsToJson(const std::vector<LabelledText>& parts) {
  Json all = Json::array();
  for (const LabelledText& part : parts) {
    all.push_back({{"text", part.text},
                   {"label", part.label},
                   {"begin", part.begin},
                   {"end", part.end},
                   {"probability", part.probability}});
  }
  return all;
}

}  // namespace

bool LabelsEntities(const Tagger& tagger) {
  return std::ranges::all_of(tagger.labels(), IsEntityLabel);
}

Json TaggedToJson(const std::string& text, const TaggedText& tagged, bool words) {
  Json json = {{"text", text}, {"entities", PartsToJson(tagged.entities)}};
  if (words) json["words"] = PartsToJson(tagged.words);
  return json;
}

}  // namespace attend
