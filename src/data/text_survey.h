// What parallel text holds that training can't use or should not have, read line by line.
#ifndef ATTEND_DATA_TEXT_SURVEY_H_
#define ATTEND_DATA_TEXT_SURVEY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "attend/vocabulary.h"
#include "data/corpus_report.h"
#include "text/unknown_characters.h"

namespace attend {

// Files of two sides, one beside the other, line by line.
struct ParallelFiles {
  std::vector<std::string> source, target;
};

// Pairs and single lines by their hashes; a pair has the same hash in both directions.
using PairHashes = std::unordered_set<uint64_t>;

// The pairs of a text that is not trained on. Pairs with an empty side are none.
class HeldOutPairs {
 public:
  explicit HeldOutPairs(const ParallelFiles& files);
  int64_t count() const { return std::ssize(pairs_); }
  void AddTo(PairHashes* hashes) const;
  struct Found {
    NamedLines pairs;
    int64_t sources = 0;  // of other pairs: their source is a line of either side
  };
  // Which of them are among `hashes`.
  Found Among(const PairHashes& hashes) const;

 private:
  struct Pair {
    uint64_t hash = 0, source_hash = 0;
    size_t file = 0;
    int64_t line = 0;  // from 1
  };
  std::vector<std::string> files_;  // of the source
  std::vector<Pair> pairs_;
};

struct TextSurvey {
  UnknownCharacters source, target;
  std::vector<size_t> copies;  // files where both sides of every pair are the same text
  PairHashes met;              // of the hashes that were looked for
};

// Reads the files with `threads` threads, in memory that does not grow with them. Files of
// different lengths are read to the shorter one's end. Throws Error(kInput) as LineReader does.
TextSurvey SurveyText(const ParallelFiles& files, const std::shared_ptr<const Vocabulary>& source,
                      const std::shared_ptr<const Vocabulary>& target, const PairHashes& wanted,
                      int threads);

}  // namespace attend

#endif  // ATTEND_DATA_TEXT_SURVEY_H_
