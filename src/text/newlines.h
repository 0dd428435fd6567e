// Text of several lines as ids: the end of a line is a token, for models that read whole documents.
#ifndef ATTEND_TEXT_NEWLINES_H_
#define ATTEND_TEXT_NEWLINES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/vocabulary.h"

namespace attend {

// The token that stands for the end of a line (VocabularyOptions::newline).
inline constexpr std::string_view kNewline = "<newline>";

// Its id; -1 for a vocabulary without it.
int32_t NewlineId(const Vocabulary& vocabulary);

// Ids of a text, without bos or eos: each LF is the newline token, or a space where the vocabulary
// has none. One whose tokens spell white space reads LF as any other text.
std::vector<int32_t> EncodeText(const Vocabulary& vocabulary, std::string_view text);

// Text of ids: an LF for each newline token, or byte of byte-level BPE.
std::string DecodeText(const Vocabulary& vocabulary, std::span<const int32_t> ids);

}  // namespace attend

#endif  // ATTEND_TEXT_NEWLINES_H_
