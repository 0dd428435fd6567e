#include "metrics/characters.h"

#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/utf8.h>

#include <algorithm>

namespace attend {

bool IsPythonSpace(char32_t c) {
  if (c < 0x80) return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20);
  return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
         c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

bool IsPunctuation(char32_t c) {
  return (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_P_MASK) != 0;
}
bool IsSymbol(char32_t c) { return (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_S_MASK) != 0; }
bool IsNumber(char32_t c) { return (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_N_MASK) != 0; }

std::u32string LowerCase(std::u32string text) {
  if (std::all_of(text.begin(), text.end(), [](char32_t c) { return c < 0x80; })) {
    for (char32_t& c : text) {
      if (c >= U'A' && c <= U'Z') c += U'a' - U'A';
    }
    return text;
  }
  icu::UnicodeString unicode = icu::UnicodeString::fromUTF32(
      reinterpret_cast<const UChar32*>(text.data()), static_cast<int32_t>(text.size()));
  unicode.toLower(icu::Locale::getRoot());
  UErrorCode error = U_ZERO_ERROR;
  std::u32string lower(static_cast<size_t>(unicode.countChar32()), U'\0');
  unicode.toUTF32(reinterpret_cast<UChar32*>(lower.data()), static_cast<int32_t>(lower.size()),
                  error);
  return lower;
}

std::u32string_view StripRight(std::u32string_view text) {
  while (!text.empty() && IsPythonSpace(text.back())) text.remove_suffix(1);
  return text;
}

std::string StripRight(std::string text) {
  auto size = static_cast<int32_t>(text.size());
  while (size > 0) {
    int32_t before = size;
    UChar32 character;
    U8_PREV_OR_FFFD(reinterpret_cast<const uint8_t*>(text.data()), 0, before, character);
    if (!IsPythonSpace(static_cast<char32_t>(character))) break;
    size = before;
  }
  text.resize(static_cast<size_t>(size));
  return text;
}

std::u32string_view StripLeft(std::u32string_view text) {
  while (!text.empty() && IsPythonSpace(text.front())) text.remove_prefix(1);
  return text;
}

std::vector<std::u32string_view> SplitWords(std::u32string_view text) {
  std::vector<std::u32string_view> words;
  size_t i = 0;
  while (true) {
    while (i < text.size() && IsPythonSpace(text[i])) ++i;
    if (i == text.size()) return words;
    const size_t start = i;
    while (i < text.size() && !IsPythonSpace(text[i])) ++i;
    words.push_back(text.substr(start, i - start));
  }
}

std::u32string ReplaceAll(std::u32string_view text, std::u32string_view from,
                          std::u32string_view to) {
  std::u32string replaced;
  replaced.reserve(text.size());
  size_t start = 0;
  for (size_t found; (found = text.find(from, start)) != std::u32string_view::npos;) {
    replaced.append(text.substr(start, found - start)).append(to);
    start = found + from.size();
  }
  return replaced.append(text.substr(start));
}

}  // namespace attend
