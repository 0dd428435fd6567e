#include "metrics/entities.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/error.h"
#include "metrics/percent.h"
#include "text/entity_labels.h"

namespace attend {

double EntityCounts::precision() const { return Percent(right, found); }
double EntityCounts::recall() const { return Percent(right, expected); }
double EntityCounts::f1() const { return Percent(2 * right, found + expected); }

EntityCounts& EntityCounts::operator+=(const EntityCounts& other) {
  found += other.found;
  expected += other.expected;
  right += other.right;
  return *this;
}

double EntityScores::accuracy() const { return Percent(right_words, words); }

EntityScores ScoreEntities(const std::vector<std::vector<std::string>>& found,
                           const std::vector<std::vector<std::string>>& expected) {
  if (found.size() != expected.size()) {
    throw Error(ErrorKind::kUsage, fmt::format("{} sentences are labelled, expected {}",
                                               found.size(), expected.size()));
  }
  EntityScores scores;
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].size() != expected[i].size()) {
      throw Error(ErrorKind::kUsage, fmt::format("sentence {} has {} labels, expected {}", i + 1,
                                                 found[i].size(), expected[i].size()));
    }
    for (size_t word = 0; word < found[i].size(); ++word)
      scores.right_words += found[i][word] == expected[i][word] ? 1 : 0;
    scores.words += std::ssize(found[i]);
    const std::vector<Entity> wanted = EntitiesOf(expected[i]);
    for (const Entity& entity : wanted) ++scores.by_type[entity.type].expected;
    for (const Entity& entity : EntitiesOf(found[i])) {
      EntityCounts& counts = scores.by_type[entity.type];
      ++counts.found;
      counts.right += std::ranges::find(wanted, entity) != wanted.end() ? 1 : 0;
    }
  }
  for (const auto& [type, counts] : scores.by_type) scores.all += counts;
  return scores;
}

}  // namespace attend
