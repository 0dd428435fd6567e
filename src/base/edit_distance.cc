#include "base/edit_distance.h"

#include <algorithm>
#include <numeric>

namespace attend {

namespace {

// A longer name is none that was mistyped. Bounds the time for names of hostile files and requests.
constexpr size_t kLongestName = 200;

}  // namespace

int EditDistance(std::string_view a, std::string_view b) {
  // Rows of the table of distances between beginnings of both.
  std::vector<int> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int substitution = last[j - 1] + (a[i - 1] != b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string NearestName(std::string_view name, const std::vector<std::string>& candidates) {
  std::string nearest;
  if (name.size() > kLongestName) return nearest;
  int best = static_cast<int>(std::max<size_t>(name.size() / 3, 1)) + 1;
  for (const std::string& candidate : candidates) {
    // The lengths alone put it too far away.
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
  if (name.size() > kLongestName) return "";
  std::string_view letters = name;
  letters.remove_prefix(std::min(letters.find_first_not_of('-'), letters.size()));
  const std::string ending = "." + std::string(letters);
  constexpr int kMostOwners = 3;
  std::string owners;
  int count = 0;
  for (const std::string& candidate : candidates) {
    if (letters.empty() || !candidate.ends_with(ending)) continue;
    owners += (owners.empty() ? "'" : " or '") + candidate + "'";
    ++count;
  }
  if (count > 0 && count <= kMostOwners) return "; did you mean " + owners + "?";
  const std::string nearest = NearestName(name, candidates);
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

}  // namespace attend
