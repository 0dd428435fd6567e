// Plain text for masked language models: contexts as an encoder reads them, some tokens hidden.
#ifndef ATTEND_DATA_MASKED_CORPUS_H_
#define ATTEND_DATA_MASKED_CORPUS_H_

#include <memory>
#include <string>

#include "data/documents.h"
#include "data/masking.h"

namespace attend {

// Of the label column: this token is not to be found again.
inline constexpr int32_t kNotMasked = -1;

// The contexts of a text. An example has two columns of equal length: ids (bos, what Masking makes
// of a context's tokens, eos), and for each of them the token to find again, or kNotMasked. What is
// hidden in a context follows from (seed, epoch, window, the context's number in it). Immutable;
// safe to use from many threads.
class MaskedCorpus : public ExampleSource {
 public:
  MaskedCorpus(std::shared_ptr<const PlainTextCorpus> text, std::shared_ptr<const Masking> masking,
               uint64_t seed);

  std::unique_ptr<WindowReader> Open(int64_t epoch, const WindowStart& start,
                                     const WindowPart& part) const override;
  std::string Where(const Origin& origin) const override { return text_->Where(origin); }

  // Contexts of Documents, the same tokens hidden each time: what a model is judged by.
  ExampleTable Mask(const ExampleTable& contexts) const;

 private:
  // `first`: the number of the first context.
  ExampleTable Mask(const ExampleTable& contexts, uint64_t epoch, uint64_t first) const;

  std::shared_ptr<const PlainTextCorpus> text_;
  std::shared_ptr<const Masking> masking_;
  uint64_t seed_;
  int32_t eos_;
};

}  // namespace attend

#endif  // ATTEND_DATA_MASKED_CORPUS_H_
