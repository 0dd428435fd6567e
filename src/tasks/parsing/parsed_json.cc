#include "tasks/parsing/parsed_json.h"

namespace attend {

Json ParsedToJson(const ParsedText& parsed) {
  Json constituents = Json::array();
  for (const Constituent& each : parsed.constituents)
    constituents.push_back({{"label", each.label}, {"begin", each.begin}, {"end", each.end}});
  return {{"tree", parsed.tree},   {"words", parsed.words},
          {"tags", parsed.tags},   {"constituents", std::move(constituents)},
          {"score", parsed.score}, {"log_probability", parsed.log_probability}};
}

}  // namespace attend
