// Word dropout: some words of each example are hidden, so that a model learns to read a word's
// neighbours and not the word alone (Iyyer et al. 2015; of taggers, Lample et al. 2016,
// section 4.3).
#ifndef ATTEND_DATA_WORD_DROPOUT_H_
#define ATTEND_DATA_WORD_DROPOUT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "attend/vocabulary.h"
#include "data/example_source.h"
#include "data/token_kinds.h"

namespace attend {

// The examples of labelled text or trees, whose first column is the text. Each word has the same
// chance to have all its tokens replaced: by [MASK], or by the unknown token where the vocabulary
// has no [MASK]. What is hidden follows from (seed, epoch, the example's number). Other columns
// stay. Immutable; safe to use from many threads.
class WordDropout : public ExampleSource {
 public:
  // `text` outlives it.
  WordDropout(const ExampleSource* text, const Vocabulary& vocabulary, double probability,
              uint64_t seed);

  std::unique_ptr<WindowReader> Open(int64_t epoch, const WindowStart& start,
                                     const WindowPart& part) const override;
  std::string Where(const Origin& origin) const override { return text_->Where(origin); }

 private:
  ExampleTable Hide(const ExampleTable& examples, uint64_t epoch, uint64_t first) const;

  const ExampleSource* text_;
  double probability_;
  uint64_t seed_;
  int32_t hidden_;                // what stands for a hidden token
  std::vector<TokenKind> kinds_;  // by id
};

}  // namespace attend

#endif  // ATTEND_DATA_WORD_DROPOUT_H_
