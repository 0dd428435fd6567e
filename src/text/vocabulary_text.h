// The text that a vocabulary is trained on.
#ifndef ATTEND_TEXT_VOCABULARY_TEXT_H_
#define ATTEND_TEXT_VOCABULARY_TEXT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/log.h"

namespace attend {

// Hands out the next line of the training text; false at the end.
using NextLine = std::function<bool(std::string* line)>;

// Training text, and where the line that came last stands.
struct VocabularyText {
  NextLine next;
  std::function<std::string()> place;  // "train.en:17"
};

// All lines, or a uniform sample in which each line had the same chance (reservoir sampling), as
// SentencePiece takes them: repaired, without its reserved U+2585, long ones cut. Each is warned
// of.
std::vector<std::string> CollectLines(const VocabularyText& text, int64_t max_sentences,
                                      uint64_t seed, const Log& log);

}  // namespace attend

#endif  // ATTEND_TEXT_VOCABULARY_TEXT_H_
