#include "text/tokenizer_characters.h"

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/uniset.h>

#include <algorithm>
#include <array>

#include "attend/error.h"
#include "text/utf8.h"

namespace attend {
namespace {

struct Range {
  char32_t first, last;
};

// What Unicode 15.1 and 16 added, for an ICU that does not know them.
constexpr Range kNewLetters[] = {
    {0x1C89, 0x1C8A},   {0xA7CB, 0xA7CD},   {0xA7DA, 0xA7DC},   {0x105C0, 0x105F3},
    {0x10D4A, 0x10D65}, {0x10D6F, 0x10D85}, {0x10EC2, 0x10EC4}, {0x11380, 0x11389},
    {0x1138B, 0x1138B}, {0x1138E, 0x1138E}, {0x11390, 0x113B5}, {0x113B7, 0x113B7},
    {0x113D1, 0x113D1}, {0x113D3, 0x113D3}, {0x11BC0, 0x11BE0}, {0x13460, 0x143FA},
    {0x16100, 0x1611D}, {0x16D40, 0x16D6C}, {0x18CFF, 0x18CFF}, {0x1E5D0, 0x1E5ED},
    {0x1E5F0, 0x1E5F0}, {0x2EBF0, 0x2EE5D}};
constexpr Range kNewDigits[] = {{0x10D40, 0x10D49}, {0x116D0, 0x116E3}, {0x11BF0, 0x11BF9},
                                {0x16130, 0x16139}, {0x16D70, 0x16D79}, {0x1CCF0, 0x1CCF9},
                                {0x1E5F1, 0x1E5FA}};
constexpr Range kNewMarks[] = {{0x897, 0x897},     {0x10D69, 0x10D6D}, {0x10EFC, 0x10EFC},
                               {0x113B8, 0x113C0}, {0x113C2, 0x113C2}, {0x113C5, 0x113C5},
                               {0x113C7, 0x113CA}, {0x113CC, 0x113D0}, {0x113D2, 0x113D2},
                               {0x113E1, 0x113E2}, {0x11F5A, 0x11F5A}, {0x1611E, 0x1612F},
                               {0x1E5EE, 0x1E5EF}};

// Capitals that Unicode 16 and 17 added, and how far their small letters are.
struct Capitals {
  Range range;
  int32_t distance;
};
constexpr Capitals kNewCapitals[] = {{{0x1C89, 0x1C89}, 1},      {{0xA7CB, 0xA7CB}, 0x264 - 0xA7CB},
                                     {{0xA7CC, 0xA7CC}, 1},      {{0xA7CE, 0xA7CE}, 1},
                                     {{0xA7D2, 0xA7D2}, 1},      {{0xA7D4, 0xA7D4}, 1},
                                     {{0xA7DA, 0xA7DA}, 1},      {{0xA7DC, 0xA7DC}, 0x19B - 0xA7DC},
                                     {{0x10D50, 0x10D65}, 0x20}, {{0x16EA0, 0x16EB8}, 0x1B}};

template <size_t count>
bool IsIn(const Range (&ranges)[count], char32_t character) {
  const auto after = std::ranges::upper_bound(ranges, character, {}, &Range::first);
  return after != std::begin(ranges) && character <= std::prev(after)->last;
}

uint32_t Category(char32_t character) { return U_GET_GC_MASK(static_cast<UChar32>(character)); }

// The version of Unicode that added the character; 0: none that ICU knows.
int AgeOf(char32_t character) {
  UVersionInfo version;
  u_charAge(static_cast<UChar32>(character), version);
  return version[0];
}

bool IsIn16(char32_t character, uint32_t categories) {
  return (Category(character) & categories) != 0 && AgeOf(character) <= 16;
}

// Unicode 8.0 is its last version with the number 8; the same for 9 and 16.
bool IsUpTo(char32_t character, int version) {
  const int age = AgeOf(character);
  return age != 0 && age <= version;
}

}  // namespace

bool IsWhiteSpace(char32_t character) {
  if (character < 0x80) return character == ' ' || (character >= '\t' && character <= '\r');
  return u_isUWhiteSpace(static_cast<UChar32>(character)) != 0;
}

bool IsOther8(char32_t character) {
  if (character < 0x80) return character < 0x20 || character == 0x7F;
  return (Category(character) & (U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK)) != 0 &&
         IsUpTo(character, 8);
}

// Three characters changed their category after Unicode 8, here and in the next function.
bool IsPunctuation8(char32_t character) {
  if (character < 0x80) {
    return character > ' ' && character < 0x7F && !(character >= '0' && character <= '9') &&
           !((character | 0x20) >= 'a' && (character | 0x20) <= 'z');
  }
  if (character == 0x166D || character == 0x111C9) return true;
  return (Category(character) & U_GC_P_MASK) != 0 && IsUpTo(character, 8);
}

bool IsNonspacingMark8(char32_t character) {
  if (character < 0x300) return false;
  if (character == 0x1734) return true;
  if ((Category(character) & U_GC_MN_MASK) == 0) return false;
  const bool was_other =
      character == 0x1885 || character == 0x1886 || character == 0x111C9 || character == 0xA9BD;
  return !was_other && IsUpTo(character, 8);
}

bool IsMark9(char32_t character) {
  if (character < 0x300 || character == 0x111C9) return false;
  if (character == 0x1CF2 || character == 0x1CF3) return true;
  return (Category(character) & U_GC_M_MASK) != 0 && IsUpTo(character, 9);
}

bool IsLetter16(char32_t character) {
  return IsIn16(character, U_GC_L_MASK) || IsIn(kNewLetters, character);
}

bool IsNumber16(char32_t character) {
  return IsIn16(character, U_GC_N_MASK) || IsIn(kNewDigits, character);
}

bool IsWordCharacter16(char32_t character) {
  const auto point = static_cast<UChar32>(character);
  if (IsIn16(character, U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK)) return true;
  const bool joins = u_hasBinaryProperty(point, UCHAR_ALPHABETIC) ||
                     u_hasBinaryProperty(point, UCHAR_JOIN_CONTROL);
  if (joins) return AgeOf(character) <= 16;
  return IsIn(kNewLetters, character) || IsIn(kNewDigits, character) || IsIn(kNewMarks, character);
}

void AppendLower17(char32_t character, std::string* text) {
  if (character < 0x80) {
    const bool capital = character >= 'A' && character <= 'Z';
    text->push_back(static_cast<char>(capital ? character + 0x20 : character));
    return;
  }
  for (const auto& [range, distance] : kNewCapitals) {
    if (character < range.first || character > range.last) continue;
    return AppendUtf8(static_cast<char32_t>(static_cast<int32_t>(character) + distance), text);
  }
  constexpr char32_t kDottedCapitalI = 0x130;  // the one letter that becomes two characters
  if (character == kDottedCapitalI) {
    text->append("i\u0307");
    return;
  }
  AppendUtf8(static_cast<char32_t>(u_tolower(static_cast<UChar32>(character))), text);
}

const icu::Normalizer2& NormalizerOf9(NormalizationForm form) {
  static const auto* const normalizers = [] {
    UErrorCode status = U_ZERO_ERROR;
    // Kept to the end of the process, as ICU's own are.
    auto* known = new icu::UnicodeSet(u"[[:age=9.0:]]", status);
    const auto* nfc = icu::Normalizer2::getNFCInstance(status);
    const auto* nfd = icu::Normalizer2::getNFDInstance(status);
    const auto* nfkc = icu::Normalizer2::getNFKCInstance(status);
    const auto* nfkd = icu::Normalizer2::getNFKDInstance(status);
    if (U_FAILURE(status)) {
      throw Error(ErrorKind::kRuntime,
                  fmt::format("ICU has no Unicode normalization: {}", u_errorName(status)));
    }
    known->freeze();
    return new std::array<icu::FilteredNormalizer2, 4>{
        {{*nfc, *known}, {*nfd, *known}, {*nfkc, *known}, {*nfkd, *known}}};
  }();
  return (*normalizers)[static_cast<size_t>(form)];
}

}  // namespace attend
