// How sure a model is of what it wrote, from the log-probabilities of its tokens (Fomicheva et al.
// 2020): 0 to 100 for an output, and for each of its words.
#ifndef ATTEND_TASKS_TRANSLATION_QUALITY_H_
#define ATTEND_TASKS_TRANSLATION_QUALITY_H_

#include <cstdint>
#include <span>
#include <vector>

#include "attend/translator.h"

namespace attend {

// The mean of outputs' qualities over all their tokens, as if they were one output. A text that was
// copied counts as one token.
class MeanQuality {
 public:
  void Add(const Hypothesis& hypothesis);
  double Value() const;

 private:
  double log_ = 0;  // the sum over all tokens
  int64_t tokens_ = 0;
};

// Sets quality and word_quality of an output. `log_probabilities`: of its ids, and of eos where it
// is finished. `words`: as Vocabulary::WordsOfIds gives them. Tokens that have no log-probability,
// at the end of an output that was cut, count for nothing, and their words as 0.
void SetQuality(std::span<const double> log_probabilities, std::span<const int64_t> words,
                Hypothesis* hypothesis);

// Adds words of an output to those of a text that has `count` by now, from word `first` on. A word
// that has parts in two outputs is as sure as the less sure one.
void AddWordQuality(std::span<const double> words, int64_t first, int64_t count,
                    std::vector<double>* of_text);

// Of a text that is its own translation.
void SetCertain(int64_t words, Hypothesis* hypothesis);

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSLATION_QUALITY_H_
