// Noise that a text-to-text model learns to undo: T5's, which hides spans behind sentinels (Raffel
// et al. 2020, sections 3.1.4 and 3.3.4), and BART's, which hides each behind one mask token and
// may change the order of sentences (Lewis et al. 2020, section 2.2).
#ifndef ATTEND_DATA_DENOISING_H_
#define ATTEND_DATA_DENOISING_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/vocabulary.h"
#include "base/fields.h"
#include "base/random.h"

namespace attend {

enum class NoiseKind {
  kSpans,      // the output is what was hidden, behind the sentinels
  kInfilling,  // the output is the whole text
};

struct DenoisingOptions {
  NoiseKind kind = NoiseKind::kSpans;
  double noise_density =
      0;  // share of the tokens that is hidden; 0: 0.15 of spans, 0.3 of infilling
  double mean_noise_span_length = 3;
  bool permute_sentences = false;  // of infilling

  double Density() const {
    if (noise_density > 0) return noise_density;
    return kind == NoiseKind::kSpans ? 0.15 : 0.3;
  }
};

FieldList Fields(DenoisingOptions& options);

// Ids of a text with noise, and what a model is to write for them; without bos and eos.
struct NoisedText {
  std::vector<int32_t> input, output;
};

// Immutable; safe to use from many threads.
class Denoising {
 public:
  // `language`: of the sentences to permute, or "". Throws Error(kConfiguration) for a vocabulary
  // without sentinels, or for infilling without a mask token.
  Denoising(const DenoisingOptions& options, std::shared_ptr<const Vocabulary> vocabulary,
            std::string language);

  // `key` alone decides. Precondition: there are ids. Neither list of the result is longer than
  // `ids` where that has three or more.
  NoisedText AddNoise(std::span<const int32_t> ids, uint64_t key) const;

  // What stands for spans: the sentinels, or the mask token.
  std::span<const int32_t> marks() const { return marks_; }

 private:
  NoisedText HideSpans(std::span<const int32_t> ids, Random* random) const;
  std::vector<int32_t> Infill(std::span<const int32_t> ids, Random* random) const;
  // The sentences in another order. White space divides them; where none does the order stays.
  std::vector<int32_t> Permuted(std::span<const int32_t> ids, Random* random) const;

  DenoisingOptions options_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::string language_;
  std::vector<int32_t> marks_;
};

// `total` as a sum of `parts` numbers of at least 0, each such sum as likely as another.
// Precondition: parts > 0, total >= 0.
std::vector<int64_t> RandomParts(int64_t total, int64_t parts, Random* random);

// Of Poisson's distribution.
int64_t RandomPoisson(double mean, Random* random);

}  // namespace attend

#endif  // ATTEND_DATA_DENOISING_H_
