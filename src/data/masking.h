// Tokens that a masked language model has to find again: BERT's way to choose and hide them (Devlin
// et al. 2019, section 3.1).
#ifndef ATTEND_DATA_MASKING_H_
#define ATTEND_DATA_MASKING_H_

#include <cstdint>
#include <span>
#include <vector>

#include "attend/vocabulary.h"
#include "base/fields.h"
#include "data/token_kinds.h"

namespace attend {

struct MaskingOptions {
  double mask_tokens = 0.15;      // share of the tokens that are chosen
  double mask_hidden = 0.8;       // of those chosen become the mask token
  double mask_random = 0.1;       // of those chosen become any token; the others stay
  bool mask_whole_words = false;  // all tokens of a word are chosen together
};

FieldList Fields(MaskingOptions& options);

struct MaskedTokens {
  std::vector<int32_t> ids;     // with what is hidden
  std::vector<int64_t> chosen;  // positions of the chosen tokens, rising
};

// Immutable; safe to use from many threads.
class Masking {
 public:
  // Throws Error(kConfiguration) for a vocabulary without a mask token (VocabularyOptions::mask),
  // and for shares of more than 1 in all.
  Masking(const MaskingOptions& options, const Vocabulary& vocabulary);

  // Chooses `mask_tokens` of the tokens, at least one; special tokens are never chosen. `key` alone
  // decides. Words that would be more than the share are left out.
  MaskedTokens Mask(std::span<const int32_t> ids, uint64_t key) const;

 private:
  // Tokens [begin, end) that are chosen together.
  struct Unit {
    int64_t begin = 0, end = 0;
  };
  std::vector<Unit> UnitsOf(std::span<const int32_t> ids) const;

  MaskingOptions options_;
  int32_t mask_id_;
  std::vector<TokenKind> kinds_;   // by id
  std::vector<int32_t> ordinary_;  // ids that are not special
};

}  // namespace attend

#endif  // ATTEND_DATA_MASKING_H_
