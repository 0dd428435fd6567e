#include "text/wordpiece.h"

#include "attend/error.h"
#include "text/utf8.h"

namespace attend {
namespace {

// The tokens that begin with the prefix, without it, and their ids.
ByteTrie TrieOf(std::span<const std::string> tokens, std::string_view prefix) {
  std::vector<std::pair<std::string_view, int32_t>> texts;
  for (size_t id = 0; id < tokens.size(); ++id) {
    std::string_view text = tokens[id];
    if (!text.starts_with(prefix)) continue;
    text.remove_prefix(prefix.size());
    texts.emplace_back(text, static_cast<int32_t>(id));
  }
  return ByteTrie(std::move(texts));
}

}  // namespace

WordPiece::WordPiece(std::span<const std::string> tokens, const WordPieceOptions& options)
    : unk_(options.unk),
      max_characters_(options.max_characters),
      first_(TrieOf(tokens, "")),
      later_(TrieOf(tokens, options.prefix)) {}

bool WordPiece::Cut(std::string_view word, std::vector<PlacedToken>* tokens) const {
  // A word has no more characters than bytes.
  if (word.size() > max_characters_ &&
      static_cast<uint64_t>(CountCodePoints(word)) > max_characters_)
    return false;
  const size_t before = tokens->size();
  for (size_t at = 0; at < word.size();) {
    const ByteTrie::Match match = (at == 0 ? first_ : later_).Longest(word.substr(at));
    if (match.value < 0) {
      tokens->resize(before);
      return false;
    }
    tokens->push_back({match.value, at});
    at += match.size;
  }
  return true;
}

void WordPiece::Encode(std::string_view word, std::vector<PlacedToken>* tokens) const {
  if (!Cut(word, tokens)) tokens->push_back({unk_, 0});
}

void WordPiece::Sample(std::string_view, double, Random*, std::vector<PlacedToken>*) const {
  throw Error(ErrorKind::kUsage,
              "a WordPiece vocabulary cuts a text in one way only; it can't be sampled");
}

std::vector<std::string> WordPiece::Unknown(std::string_view word) const {
  std::vector<PlacedToken> tokens;
  if (Cut(word, &tokens)) return {};
  return {std::string(word)};
}

}  // namespace attend
