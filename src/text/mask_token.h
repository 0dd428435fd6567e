// The token that stands where a masked language model has to say what does (Devlin et al. 2019).
#ifndef ATTEND_TEXT_MASK_TOKEN_H_
#define ATTEND_TEXT_MASK_TOKEN_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "attend/vocabulary.h"

namespace attend {

inline constexpr std::string_view kMaskToken = "[MASK]";

// Its id; -1 for a vocabulary without it.
inline int32_t MaskId(const Vocabulary& vocabulary) {
  const int32_t id = vocabulary.Id(kMaskToken);
  return id == vocabulary.special_ids().unk ? -1 : id;
}

// A text for people, where some tokens are hidden.
inline std::string DecodeWithMasks(const Vocabulary& vocabulary, std::span<const int32_t> ids) {
  const int32_t mask = MaskId(vocabulary);
  std::string text;
  for (size_t begin = 0; begin < ids.size();) {
    size_t end = begin;
    while (end < ids.size() && (ids[end] == mask) == (ids[begin] == mask)) ++end;
    for (size_t i = begin; i < end && ids[begin] == mask; ++i)
      text += (text.empty() ? "" : " ") + std::string(kMaskToken);
    const std::string part =
        ids[begin] == mask ? "" : vocabulary.Decode({ids.begin() + begin, ids.begin() + end});
    if (!part.empty()) text += (text.empty() ? "" : " ") + part;
    begin = end;
  }
  return text;
}

}  // namespace attend

#endif  // ATTEND_TEXT_MASK_TOKEN_H_
