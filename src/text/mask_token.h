// The token that stands where a masked language model has to say what does (Devlin et al. 2019).
#ifndef ATTEND_TEXT_MASK_TOKEN_H_
#define ATTEND_TEXT_MASK_TOKEN_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "attend/vocabulary.h"
#include "text/word_ids.h"

namespace attend {

inline constexpr std::string_view kMaskToken = "[MASK]";
// As RoBERTa's tokenizer.json spells it.
inline constexpr std::string_view kOtherMaskToken = "<mask>";

// Its id; -1 for a vocabulary without it. An added token of a tokenizer.json may be <mask>.
int32_t MaskId(const Vocabulary& vocabulary);

// Bos, the tokens of the text, of which [MASK] is one, and eos. Of a longer text the first
// `max_tokens` tokens.
TextIds EncodeWithMasks(const Vocabulary& vocabulary, const std::string& text, int64_t max_tokens);

// A text for people, where some tokens are hidden.
std::string DecodeWithMasks(const Vocabulary& vocabulary, std::span<const int32_t> ids);

}  // namespace attend

#endif  // ATTEND_TEXT_MASK_TOKEN_H_
