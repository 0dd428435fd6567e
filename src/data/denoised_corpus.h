// Plain text that a text-to-text model learns to put right, beside pairs.
#ifndef ATTEND_DATA_DENOISED_CORPUS_H_
#define ATTEND_DATA_DENOISED_CORPUS_H_

#include <memory>
#include <string>

#include "data/denoising.h"
#include "data/line_corpus.h"

namespace attend {

// The examples of a corpus of two columns; those of its files from `first_text` on, which are the
// same text on both sides, become what Denoising makes of their targets. The noise of an example
// follows from (seed, epoch, window, the example's number in it), so each process makes whole
// windows. Immutable; safe to use from many threads.
class DenoisedCorpus : public ExampleSource {
 public:
  DenoisedCorpus(std::shared_ptr<const LineCorpus> lines, int64_t first_text,
                 std::shared_ptr<const Denoising> denoising, uint64_t seed);

  std::unique_ptr<WindowReader> Open(int64_t epoch, const WindowStart& start,
                                     const WindowPart& part) const override;
  std::string Where(const Origin& origin) const override { return lines_->Where(origin); }

  // The same noise each time: what a model is judged by.
  ExampleTable AddNoise(const ExampleTable& examples) const;

 private:
  // `first`: the number of the first example.
  ExampleTable AddNoise(const ExampleTable& examples, uint64_t epoch, uint64_t first) const;

  std::shared_ptr<const LineCorpus> lines_;
  int64_t first_text_;
  std::shared_ptr<const Denoising> denoising_;
  uint64_t seed_;
};

}  // namespace attend

#endif  // ATTEND_DATA_DENOISED_CORPUS_H_
