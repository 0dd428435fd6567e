#include "text/mask_token.h"

#include <utility>

#include "text/lines.h"
#include "text/sentinels.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

namespace attend {

int32_t MaskId(const Vocabulary& vocabulary) { return vocabulary.tokenizer().mask_id(); }

TextIds EncodeWithMasks(const Vocabulary& vocabulary, const std::string& text, int64_t max_tokens) {
  std::vector<int32_t> ids = vocabulary.tokenizer().EncodeMasked(RepairUtf8(text));
  const bool cut = std::ssize(ids) > max_tokens;
  if (cut) ids.resize(max_tokens);
  ids.insert(ids.begin(), static_cast<int32_t>(vocabulary.special_ids().bos));
  ids.push_back(static_cast<int32_t>(vocabulary.special_ids().eos));
  return {std::move(ids), cut};
}

std::string DecodeWithMasks(const Vocabulary& vocabulary, std::span<const int32_t> ids) {
  const int32_t mask = MaskId(vocabulary);
  std::string text = DecodeWithMarks(vocabulary, ids, std::span(&mask, 1));
  if (mask >= 0) Replace(vocabulary.Piece(mask), kMaskToken, &text);
  return text;
}

}  // namespace attend
