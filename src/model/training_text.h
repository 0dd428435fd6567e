// What the text was like that a model was trained on: how long its lines were, and whether they
// were single sentences.
#ifndef ATTEND_MODEL_TRAINING_TEXT_H_
#define ATTEND_MODEL_TRAINING_TEXT_H_

#include <cstdint>

#include "base/fields.h"

namespace attend {

// Plain values.
struct TrainingText {
  // Of a line, without bos and eos.
  struct Tokens {
    int64_t median = 0, p90 = 0, p99 = 0, longest = 0;
    bool operator==(const Tokens&) const = default;
  };
  // Target tokens of a pair over its source tokens, eos counted in both.
  struct Ratio {
    double median = 0, p90 = 0, p99 = 0, longest = 0;
    bool operator==(const Ratio&) const = default;
  };
  Tokens source_tokens, target_tokens;
  Ratio target_ratio;
  double several_sentences = 0;  // share of source lines that have several
  bool operator==(const TrainingText&) const = default;

  // Lines of several sentences were common enough to be learnt.
  bool HasSeveralSentences() const { return several_sentences >= 0.1; }
};

FieldList Fields(TrainingText& text);

}  // namespace attend

#endif  // ATTEND_MODEL_TRAINING_TEXT_H_
