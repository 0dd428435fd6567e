#include "tasks/translation/token_texts.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "text/tokenizer.h"

namespace attend {
namespace {

std::vector<std::string> TextsOfTokens(const Vocabulary& vocabulary) {
  std::vector<std::string> texts(vocabulary.size());
  for (int32_t id = 0; id < std::ssize(texts); ++id) {
    const TokenText token = vocabulary.tokenizer().TextOf(id);
    const bool part = token.bytes && token.text == "\uFFFD";
    texts[id] = (token.begins_word ? " " : "") + (part ? vocabulary.Piece(id) : token.text);
  }
  return texts;
}

}  // namespace

TokenTexts::TokenTexts(const Vocabulary& vocabulary) : TokenTexts(TextsOfTokens(vocabulary)) {}

TokenTexts::TokenTexts(std::vector<std::string> texts)
    : texts_(std::move(texts)), sorted_(texts_.size()) {
  std::iota(sorted_.begin(), sorted_.end(), 0);
  std::ranges::stable_sort(sorted_, {},
                           [this](int32_t id) { return std::string_view(texts_[id]); });
}

std::string TokenTexts::Of(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids) text += Of(id);
  return text;
}

std::vector<int32_t> TokenTexts::Longer(std::string_view begin) const {
  auto at = std::ranges::upper_bound(sorted_, begin, {},
                                     [this](int32_t id) { return std::string_view(texts_[id]); });
  std::vector<int32_t> longer;
  for (; at != sorted_.end() && texts_[*at].starts_with(begin); ++at) longer.push_back(*at);
  std::ranges::sort(longer);
  return longer;
}

}  // namespace attend
