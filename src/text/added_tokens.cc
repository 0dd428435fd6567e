#include "text/added_tokens.h"

#include <unicode/utf8.h>

#include <algorithm>
#include <utility>

#include "text/tokenizer_characters.h"

namespace attend {
namespace {

// The character before `*at`, or at it; moves `*at` over it. The text is well-formed.
char32_t Previous(std::string_view text, size_t* at) {
  do --*at;
  while (*at > 0 && U8_IS_TRAIL(text[*at]));
  UChar32 character = 0;
  size_t end = *at;
  U8_NEXT(text.data(), end, text.size(), character);
  return static_cast<char32_t>(character);
}

char32_t Next(std::string_view text, size_t* at) {
  UChar32 character = 0;
  U8_NEXT(text.data(), *at, text.size(), character);
  return static_cast<char32_t>(character);
}

bool IsSingleWord(std::string_view text, size_t begin, size_t end) {
  return (begin == 0 || !IsWordCharacter16(Previous(text, &begin))) &&
         (end == text.size() || !IsWordCharacter16(Next(text, &end)));
}

// Where the white space before `at` begins, from `first` on.
size_t SpaceBefore(std::string_view text, size_t at, size_t first) {
  for (size_t begin = at; at > first && IsWhiteSpace(Previous(text, &begin));) at = begin;
  return at;
}

size_t SpaceAfter(std::string_view text, size_t at) {
  for (size_t end = at; at < text.size() && IsWhiteSpace(Next(text, &end));) at = end;
  return at;
}

}  // namespace

AddedTokenFinder::AddedTokenFinder(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::vector<std::pair<std::string_view, int32_t>> contents;
  for (size_t i = 0; i < tokens_.size(); ++i) {
    contents.emplace_back(tokens_[i].content, static_cast<int32_t>(i));
    if (!tokens_[i].content.empty())
      first_bytes_.set(static_cast<uint8_t>(tokens_[i].content.front()));
  }
  trie_ = ByteTrie(std::move(contents));
}

std::vector<AddedTokenFinder::Part> AddedTokenFinder::Find(std::string_view text) const {
  std::vector<Part> parts;
  size_t taken = 0;                       // up to here the text is in parts
  size_t space_begin = 0, space_end = 0;  // the last run of white space that a token took in
  for (size_t at = 0; at < text.size() && !trie_.empty();) {
    if (!first_bytes_[static_cast<uint8_t>(text[at])]) {
      ++at;
      continue;
    }
    const ByteTrie::Match match = trie_.Longest(text.substr(at));
    if (match.value < 0) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[match.value];
    Part part = {token.id, at, at + match.size, at};
    at = part.end;
    if (token.single_word && !IsSingleWord(text, part.begin, part.end)) continue;
    if (token.lstrip) part.begin = SpaceBefore(text, part.begin, taken);
    if (token.rstrip) {
      // Many tokens may end in one run of white space.
      if (part.end < space_begin || part.end > space_end) {
        space_begin = part.end;
        space_end = SpaceAfter(text, part.end);
      }
      part.end = space_end;
    }
    if (taken < part.begin) parts.push_back({-1, taken, part.begin, taken});
    parts.push_back(part);
    taken = part.end;
  }
  if (taken < text.size()) parts.push_back({-1, taken, text.size(), taken});
  return parts;
}

}  // namespace attend
