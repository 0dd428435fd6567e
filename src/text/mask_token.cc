#include "text/mask_token.h"

#include <utility>

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
  std::string text;
  const auto add = [&](std::string_view part) {
    if (part.starts_with(' ')) part.remove_prefix(1);
    if (part.empty()) return;
    if (!text.empty()) text += ' ';
    text += part;
  };
  for (size_t begin = 0; begin < ids.size();) {
    size_t end = begin;
    while (end < ids.size() && ids[end] != mask) ++end;
    add(vocabulary.Decode(ids.subspan(begin, end - begin)));
    if (end < ids.size()) add(kMaskToken);
    begin = end + 1;
  }
  return text;
}

}  // namespace attend
