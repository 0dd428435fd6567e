// The token that stands where a masked language model has to say what does (Devlin et al. 2019).
#ifndef ATTEND_TEXT_MASK_TOKEN_H_
#define ATTEND_TEXT_MASK_TOKEN_H_

#include <cstdint>
#include <string_view>

#include "attend/vocabulary.h"

namespace attend {

inline constexpr std::string_view kMaskToken = "[MASK]";

// Its id; -1 for a vocabulary without it.
inline int32_t MaskId(const Vocabulary& vocabulary) {
  const int32_t id = vocabulary.Id(kMaskToken);
  return id == vocabulary.special_ids().unk ? -1 : id;
}

}  // namespace attend

#endif  // ATTEND_TEXT_MASK_TOKEN_H_
