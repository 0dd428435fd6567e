#include "tasks/masked_language_model/filled_json.h"

#include <vector>

namespace attend {

Json FilledToJson(const std::string& text, const FilledText& found) {
  Json masks = Json::array();
  for (const std::vector<FillingToken>& tokens : found.masks) {
    Json& mask = masks.emplace_back(Json::array());
    for (const FillingToken& token : tokens)
      mask.push_back({{"token", token.text},
                      {"begins_word", token.begins_word},
                      {"probability", token.probability}});
  }
  return {{"text", text}, {"filled", found.text}, {"masks", std::move(masks)}, {"cut", found.cut}};
}

}  // namespace attend
