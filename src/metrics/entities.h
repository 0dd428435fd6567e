// Precision, recall and F1 of entities, as conlleval and seqeval count them (Tjong Kim Sang and De
// Meulder 2003): an entity is right where its first word, its last word and its type are.
#ifndef ATTEND_METRICS_ENTITIES_H_
#define ATTEND_METRICS_ENTITIES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace attend {

// Entities found, in the reference, and in both.
struct EntityCounts {
  int64_t found = 0, expected = 0, right = 0;

  // In percent; 0 where there is nothing to count.
  double precision() const;
  double recall() const;
  double f1() const;
  EntityCounts& operator+=(const EntityCounts& other);
};

struct EntityScores {
  EntityCounts all;
  std::map<std::string, EntityCounts> by_type;
  int64_t words = 0, right_words = 0;  // words, and those whose label is the reference's

  double accuracy() const;  // of words, in percent
};

// Labels of sentences. Throws Error(kUsage) where the numbers of sentences differ, or of the words
// of one.
EntityScores ScoreEntities(const std::vector<std::vector<std::string>>& found,
                           const std::vector<std::vector<std::string>>& expected);

}  // namespace attend

#endif  // ATTEND_METRICS_ENTITIES_H_
