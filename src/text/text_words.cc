#include "text/text_words.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>

namespace attend {
namespace {

constexpr std::string_view kEndings[] = {"'s",       "'re",     "'ve",     "'ll",      "'d",
                                         "'m",       "n't",     "\u2019s", "\u2019re", "\u2019ve",
                                         "\u2019ll", "\u2019d", "\u2019m", "n\u2019t"};

UChar32 CharacterAt(std::string_view text, size_t* at) {
  UChar32 character;
  auto next = static_cast<int32_t>(*at);
  U8_NEXT(reinterpret_cast<const uint8_t*>(text.data()), next, static_cast<int32_t>(text.size()),
          character);
  *at = static_cast<size_t>(next);
  return character;
}

UChar32 CharacterBefore(std::string_view text, size_t* at) {
  UChar32 character;
  auto next = static_cast<int32_t>(*at);
  U8_PREV(reinterpret_cast<const uint8_t*>(text.data()), 0, next, character);
  *at = static_cast<size_t>(next);
  return character;
}

bool IsPunctuation(UChar32 character) {
  constexpr uint32_t kSymbols = U_GC_SC_MASK | U_GC_SM_MASK | U_GC_SK_MASK | U_GC_SO_MASK;
  return u_ispunct(character) != 0 || (U_GET_GC_MASK(character) & kSymbols) != 0;
}

// The chunk, which ends in a full stop, is an abbreviation.
bool IsAbbreviation(std::string_view chunk) {
  chunk.remove_suffix(1);
  size_t at = 0;
  if (chunk.empty() || chunk.ends_with('.') || u_isalpha(CharacterAt(chunk, &at)) == 0)
    return false;
  return at == chunk.size() || chunk.find('.') != chunk.npos;
}

// Where the English ending of the chunk begins; its size where it has none.
size_t EndingAt(std::string_view chunk) {
  std::string lower(chunk);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  for (const std::string_view ending : kEndings) {
    if (chunk.size() > ending.size() && lower.ends_with(ending))
      return chunk.size() - ending.size();
  }
  return chunk.size();
}

// Adds the words of a text without white space, which stands at `offset`.
void AddWords(std::string_view chunk, size_t offset, std::vector<TextWord>* words) {
  size_t begin = 0, end = chunk.size();
  while (begin < end) {
    size_t next = begin;
    if (!IsPunctuation(CharacterAt(chunk, &next))) break;
    words->push_back({offset + begin, offset + next});
    begin = next;
  }
  std::vector<TextWord> marks;  // from the last one on
  while (end > begin) {
    size_t before = end;
    const UChar32 character = CharacterBefore(chunk, &before);
    const std::string_view rest = chunk.substr(begin, end - begin);
    if (!IsPunctuation(character) || (character == '.' && IsAbbreviation(rest))) break;
    marks.push_back({offset + before, offset + end});
    end = before;
  }
  const size_t ending = begin + EndingAt(chunk.substr(begin, end - begin));
  if (ending > begin) words->push_back({offset + begin, offset + ending});
  if (end > ending) words->push_back({offset + ending, offset + end});
  words->insert(words->end(), marks.rbegin(), marks.rend());
}

}  // namespace

std::vector<TextWord> WordsOfText(std::string_view text) {
  std::vector<TextWord> words;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t before = at;
    if (u_isUWhiteSpace(CharacterAt(text, &at)) == 0) continue;
    AddWords(text.substr(begin, before - begin), begin, &words);
    begin = at;
  }
  AddWords(text.substr(begin), begin, &words);
  return words;
}

std::string JoinWords(std::span<const std::string> words, std::vector<TextWord>* where) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    const size_t begin = text.size();
    text += word;
    if (where != nullptr) where->push_back({begin, text.size()});
  }
  return text;
}

}  // namespace attend
