// Small SentencePiece vocabularies for tests.
#ifndef ATTEND_TEXT_VOCABULARY_FIXTURE_H_
#define ATTEND_TEXT_VOCABULARY_FIXTURE_H_

#include <string>
#include <vector>

#include "attend/vocabulary.h"
#include "text/vocabulary_trainer.h"

namespace attend {

inline std::string TrainOn(const std::vector<std::string>& lines, const VocabularyOptions& options,
                           const Log& log = NoLog()) {
  size_t next = 0;
  return TrainVocabulary(
      [&](std::string* line) {
        if (next == lines.size()) return false;
        *line = lines[next++];
        return true;
      },
      options, 1, log);
}

inline std::string Train(const VocabularyOptions& options) {
  return TrainOn({"the house is old", "das Haus ist alt", "the old houses", "die alten Häuser",
                  "ein altes Haus", "an old house and a new house"},
                 options);
}

inline VocabularyOptions SmallBpe() {
  VocabularyOptions options;
  options.type = VocabularyType::kBpe;
  options.size = 60;
  return options;
}

}  // namespace attend

#endif  // ATTEND_TEXT_VOCABULARY_FIXTURE_H_
