#include "text/word_ids.h"

#include <utility>

#include "text/tokenizer.h"

namespace attend {

std::vector<WordPart> EncodeWords(const Vocabulary& vocabulary, std::span<const std::string> words,
                                  int64_t max_tokens, int64_t* malformed) {
  const SpecialIds special = vocabulary.special_ids();
  const bool spaced = vocabulary.tokenizer().SpellsWhiteSpace();
  const int32_t space = vocabulary.tokenizer().WordSeparator();
  std::vector<WordPart> parts;
  const auto begin = [&](int64_t word) {
    parts.push_back({word, {static_cast<int32_t>(special.bos)}, {}});
  };
  const auto end = [&] { parts.back().ids.push_back(static_cast<int32_t>(special.eos)); };
  begin(0);
  for (int64_t word = 0; word < std::ssize(words); ++word) {
    // A word is cut by whether a space stands before it; the first one is like the others.
    std::vector<int32_t> ids =
        vocabulary.Encode(spaced ? " " + words[word] : words[word], malformed);
    if (ids.empty())
      ids.push_back(static_cast<int32_t>(special.unk >= 0 ? special.unk : special.eos));
    if (std::ssize(ids) > max_tokens) ids.resize(max_tokens);
    const int64_t taken = std::ssize(parts.back().ids) - 1;
    const bool apart = taken > 0 && space >= 0 && ids[0] != space;
    if (taken > 0 && taken + (apart ? 1 : 0) + std::ssize(ids) > max_tokens) {
      end();
      begin(word);
    } else if (apart) {
      parts.back().ids.push_back(space);
    }
    WordPart& part = parts.back();
    part.first_tokens.push_back(static_cast<int32_t>(part.ids.size()));
    part.ids.insert(part.ids.end(), ids.begin(), ids.end());
  }
  end();
  return parts;
}

SentenceIds EncodeSentence(const Vocabulary& vocabulary, std::span<const std::string> words,
                           int64_t max_tokens, int64_t* malformed) {
  std::vector<WordPart> parts = EncodeWords(vocabulary, words, max_tokens, malformed);
  SentenceIds sentence{std::move(parts[0].ids), std::move(parts[0].first_tokens)};
  sentence.whole = sentence.words.size() == words.size();
  sentence.words.push_back(static_cast<int32_t>(sentence.ids.size()) - 1);
  return sentence;
}

TextIds EncodeCut(const Vocabulary& vocabulary, const std::string& text, int64_t max_tokens,
                  int64_t* malformed) {
  const SpecialIds special = vocabulary.special_ids();
  std::vector<int32_t> ids = vocabulary.Encode(text, malformed);
  const bool cut = std::ssize(ids) > max_tokens;
  if (cut) ids.resize(max_tokens);
  ids.insert(ids.begin(), static_cast<int32_t>(special.bos));
  ids.push_back(static_cast<int32_t>(special.eos));
  return {std::move(ids), cut};
}

}  // namespace attend
