#include "base/edit_distance.h"

#include <algorithm>

namespace attend {

int EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<int>> distance(a.size() + 1, std::vector<int>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        distance[i][j] = static_cast<int>(i + j);
        continue;
      }
      const int substitution = distance[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      distance[i][j] = std::min({distance[i - 1][j] + 1, distance[i][j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        distance[i][j] = std::min(distance[i][j], distance[i - 2][j - 2] + 1);
      }
    }
  }
  return distance[a.size()][b.size()];
}

std::string NearestName(std::string_view name, const std::vector<std::string>& candidates) {
  std::string nearest;
  int best = static_cast<int>(std::max<size_t>(name.size() / 3, 1)) + 1;
  for (const std::string& candidate : candidates) {
    // The lengths alone put it too far away; also bounds the work for a name from a hostile file.
    if (std::max(name.size(), candidate.size()) - std::min(name.size(), candidate.size()) >=
        static_cast<size_t>(best)) {
      continue;
    }
    const int distance = EditDistance(name, candidate);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string DidYouMean(std::string_view name, const std::vector<std::string>& candidates) {
  std::string_view letters = name;
  letters.remove_prefix(std::min(letters.find_first_not_of('-'), letters.size()));
  constexpr int kMostOwners = 3;
  std::string owners;
  int count = 0;
  for (const std::string& candidate : candidates) {
    if (letters.empty() || !candidate.ends_with("." + std::string(letters))) continue;
    owners += (owners.empty() ? "'" : " or '") + candidate + "'";
    ++count;
  }
  if (count > 0 && count <= kMostOwners) return "; did you mean " + owners + "?";
  const std::string nearest = NearestName(name, candidates);
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

}  // namespace attend
