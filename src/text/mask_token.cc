#include "text/mask_token.h"

#include <algorithm>
#include <utility>

#include "text/normalization.h"
#include "text/utf8.h"

namespace attend {
namespace {

constexpr std::string_view kOtherMaskToken = "<mask>";

// A text's tokens. A vocabulary of words knows no [MASK] within a text.
std::vector<int32_t> TokensOf(const Vocabulary& vocabulary, std::string text) {
  const int32_t mask = MaskId(vocabulary);
  if (mask < 0 || vocabulary.type() != VocabularyType::kWord) {
    if (mask >= 0) Replace(kMaskToken, vocabulary.Piece(mask), &text);
    return vocabulary.Encode(text);
  }
  std::vector<int32_t> ids;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(kMaskToken, begin), text.size());
    if (begin > 0) ids.push_back(mask);
    const std::vector<int32_t> words = vocabulary.Encode(text.substr(begin, end - begin));
    ids.insert(ids.end(), words.begin(), words.end());
    begin = end + kMaskToken.size();
  }
  return ids;
}

}  // namespace

int32_t MaskId(const Vocabulary& vocabulary) {
  for (const std::string_view token : {kMaskToken, kOtherMaskToken}) {
    if (const int32_t id = vocabulary.Id(token); id != vocabulary.special_ids().unk) return id;
  }
  return -1;
}

TextIds EncodeWithMasks(const Vocabulary& vocabulary, const std::string& text, int64_t max_tokens) {
  const int32_t mask = MaskId(vocabulary);
  const bool subwords =
      vocabulary.type() == VocabularyType::kUnigram || vocabulary.type() == VocabularyType::kBpe;
  const int32_t space = subwords ? vocabulary.Id(kSpaceSign) : -1;
  std::vector<int32_t> ids = {static_cast<int32_t>(vocabulary.special_ids().bos)};
  for (const int32_t id : TokensOf(vocabulary, text)) {
    if (id == mask && ids.back() == space && space != vocabulary.special_ids().unk) ids.pop_back();
    ids.push_back(id);
  }
  const bool cut = std::ssize(ids) - 1 > max_tokens;
  if (cut) ids.resize(max_tokens + 1);
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
