#include "html/spaces.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <string>

#include "text/words.h"

namespace attend {
namespace {

constexpr size_t kFewBytes = 16;  // hold two characters
constexpr UChar32 kNoCharacter = -1;

// The first character of a text, and the next one: those that a decision looks at.
struct Edge {
  UChar32 nearest = kNoCharacter, next = kNoCharacter;
};

Edge EndOf(std::string_view text) {
  text.remove_prefix(text.size() - std::min(text.size(), kFewBytes));
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  auto at = static_cast<int32_t>(text.size());
  Edge edge;
  if (at > 0) U8_PREV(bytes, 0, at, edge.nearest);
  if (at > 0) U8_PREV(bytes, 0, at, edge.next);
  return edge;
}

Edge StartOf(std::string_view text) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  const auto size = static_cast<int32_t>(std::min(text.size(), kFewBytes));
  int32_t at = 0;
  Edge edge;
  if (at < size) U8_NEXT(bytes, at, size, edge.nearest);
  if (at < size) U8_NEXT(bytes, at, size, edge.next);
  return edge;
}

bool IsSpaceOrNone(UChar32 character) { return character < 0 || u_isUWhiteSpace(character) != 0; }

bool IsOneOf(UChar32 character, std::u32string_view set) {
  return set.find(static_cast<char32_t>(character)) != set.npos;
}

bool IsWithoutSpaces(UChar32 character) {
  if (character < 0) return false;
  const int32_t width = u_getIntPropertyValue(character, UCHAR_EAST_ASIAN_WIDTH);
  const bool wide = width == U_EA_WIDE || width == U_EA_FULLWIDTH;
  char bytes[U8_MAX_LENGTH];
  int32_t size = 0;
  U8_APPEND_UNSAFE(bytes, size, character);
  const bool word = (U_GET_GC_MASK(character) & (U_GC_L_MASK | U_GC_N_MASK | U_GC_M_MASK)) != 0;
  const bool hangul =
      u_getIntPropertyValue(character, UCHAR_HANGUL_SYLLABLE_TYPE) != U_HST_NOT_APPLICABLE;
  return !hangul && (word ? !JoinsAtEnd({bytes, static_cast<size_t>(size)})
                          : wide && u_ispunct(character) != 0);
}

// Languages differ in which quotation mark opens: „...“ and “...”, »...« and «...».
bool IsQuotationMark(UChar32 character) {
  return (U_GET_GC_MASK(character) & (U_GC_PI_MASK | U_GC_PF_MASK)) != 0 ||
         IsOneOf(character, U"\"'„‚");
}

bool IsOpening(UChar32 character) {
  return (U_GET_GC_MASK(character) & U_GC_PS_MASK) != 0 || IsOneOf(character, U"¿¡");
}

bool IsClosing(UChar32 character) {
  constexpr std::u32string_view kOnEitherSide = U"&*@#/\\¿¡§†‡•";
  const auto mask = U_GET_GC_MASK(character);
  return (mask & U_GC_PE_MASK) != 0 ||
         ((mask & U_GC_PO_MASK) != 0 && !IsOneOf(character, kOnEitherSide));
}

// What else is punctuation stands as it stood.
bool IsOfEitherSide(UChar32 character) { return u_ispunct(character) != 0; }

// "." for "。" and so on: the same mark in another script.
UChar32 PlainMark(UChar32 character) {
  constexpr std::u32string_view kMarks = U"。．，、！？；：（）؟،؛।", kPlain = U"..,,!?;:()?,;.";
  const size_t place = kMarks.find(static_cast<char32_t>(character));
  return place == kMarks.npos ? character : static_cast<UChar32>(kPlain[place]);
}

bool TouchAlike(UChar32 source, UChar32 target, bool translation) {
  if (IsSpaceOrNone(source) || IsSpaceOrNone(target)) return false;
  const bool word = u_isalnum(source) != 0;
  if (!word) return PlainMark(source) == PlainMark(target);
  return translation && u_isalnum(target) != 0 && !IsWithoutSpaces(source);
}

}  // namespace

bool NeedsSpaceAfter(std::string_view text, bool spaced) {
  const auto [last, before] = EndOf(text);
  if (IsSpaceOrNone(last) || IsWithoutSpaces(last)) return false;
  if (IsQuotationMark(last)) return !IsSpaceOrNone(before) && !IsOpening(before);
  if (IsOpening(last)) return false;
  return IsClosing(last) || !IsOfEitherSide(last) || spaced;
}

bool NeedsSpaceBefore(std::string_view text, bool spaced) {
  const auto [first, behind] = StartOf(text);
  if (IsSpaceOrNone(first) || IsWithoutSpaces(first)) return false;
  if (IsQuotationMark(first)) return !IsSpaceOrNone(behind) && !IsClosing(behind);
  if (IsOpening(first)) return true;
  return spaced || (!IsClosing(first) && !IsOfEitherSide(first));
}

bool NeedsSpaceBetween(std::string_view before, std::string_view after) {
  const UChar32 last = EndOf(before).nearest, first = StartOf(after).nearest;
  return !IsSpaceOrNone(last) && !IsSpaceOrNone(first) &&
         !(IsWithoutSpaces(last) && IsWithoutSpaces(first));
}

bool TouchesAlikeAtEnd(std::string_view source, std::string_view target, bool translation) {
  return TouchAlike(EndOf(source).nearest, EndOf(target).nearest, translation);
}

bool TouchesAlikeAtStart(std::string_view source, std::string_view target, bool translation) {
  return TouchAlike(StartOf(source).nearest, StartOf(target).nearest, translation);
}

}  // namespace attend
