#include "memory/match_json.h"

namespace attend {

Json MatchesToJson(std::span<const MemoryMatch> matches) {
  Json all = Json::array();
  for (const MemoryMatch& match : matches)
    all.push_back({{"score", match.score}, {"source", match.source}, {"target", match.target}});
  return all;
}

}  // namespace attend
