#include "data/cleaning/line_facts.h"

#include <fmt/format.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/uscript.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <array>

#include "attend/error.h"
#include "text/utf8.h"

namespace attend {
namespace {

constexpr int64_t kLettersOfAWord = 4;  // about, in Thai

// Calls use(character) for each code point.
template <class Use>
void ForEachCharacter(std::string_view text, const Use& use) {
  const auto size = static_cast<int32_t>(text.size());
  for (int32_t at = 0; at < size;) {
    UChar32 character = 0;
    U8_NEXT_OR_FFFD(text.data(), at, size, character);
    use(character);
  }
}

bool IsMark(UChar32 character) { return (U_GET_GC_MASK(character) & U_GC_M_MASK) != 0; }

bool IsIn(UChar32 letter, UScriptCode script, const Scripts& scripts) {
  if (scripts.empty() || script == USCRIPT_COMMON || script == USCRIPT_INHERITED) return true;
  return std::ranges::any_of(scripts, [&](int one) {
    return one == script || uscript_hasScript(letter, static_cast<UScriptCode>(one)) != 0;
  });
}

bool IsBetweenDigits(UChar32 character) {
  constexpr std::array<UChar32, 9> kDividers = {'.',    ',',    ':',    '\'',  0xA0,
                                                0x2009, 0x2019, 0x202F, 0x066B};
  return std::ranges::find(kDividers, character) != kDividers.end();
}

bool IsAscii(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return (c & 0x80) != 0; });
}

}  // namespace

Scripts ScriptsOf(const std::string& language, const std::string& where) {
  std::array<UScriptCode, 16> codes{};
  UErrorCode status = U_ZERO_ERROR;
  const int32_t count =
      uscript_getCode(language.c_str(), codes.data(), static_cast<int32_t>(codes.size()), &status);
  if (language.empty() || U_FAILURE(status) || count == 0) {
    throw Error(ErrorKind::kConfiguration,
                fmt::format("{} is '{}', whose script is not known; expected the code of a "
                            "language, such as de, or with its script, such as sr-Latn",
                            where, language));
  }
  return {codes.begin(), codes.begin() + count};
}

LineFacts FactsOf(std::string_view line, const Scripts& scripts) {
  LineFacts facts;
  int64_t in_word = 0, spaceless = 0;  // characters, and such letters, since white space
  int64_t syllables = 0;               // such letters that are no words themselves
  const auto end_word = [&] {
    facts.longest_word = std::max(facts.longest_word, in_word);
    if (in_word > 0 && spaceless == 0) ++facts.words;
    in_word = spaceless = 0;
  };
  ForEachCharacter(line, [&](UChar32 character) {
    const bool control = u_charType(character) == U_CONTROL_CHAR && character != '\t';
    facts.malformed |= control || character == 0xFFFD;
    if (u_isUWhiteSpace(character) != 0) return end_word();
    ++in_word;
    ++facts.characters;
    if (const bool mark = IsMark(character); !mark && u_isalpha(character) == 0) return;
    ++facts.letters;
    UErrorCode status = U_ZERO_ERROR;
    const UScriptCode script =
        character < 0x80 ? USCRIPT_LATIN : uscript_getScript(character, &status);
    facts.in_scripts += IsIn(character, script, scripts) ? 1 : 0;
    if (character < 0x80 || uscript_breaksBetweenLetters(script) == 0) return;
    ++spaceless;
    facts.spaceless = true;
    const bool whole =
        script == USCRIPT_HAN || script == USCRIPT_HIRAGANA || script == USCRIPT_KATAKANA;
    ++(whole ? facts.words : syllables);
  });
  end_word();
  facts.words += (syllables + kLettersOfAWord - 1) / kLettersOfAWord;
  return facts;
}

std::string BareText(std::string_view line) {
  std::string bare;
  bare.reserve(line.size());
  if (IsAscii(line)) {
    for (const char c : line) {
      if (u_isalnum(c) != 0) bare.push_back(static_cast<char>(u_tolower(c)));
    }
  } else {
    UErrorCode status = U_ZERO_ERROR;
    const icu::Normalizer2* fold = icu::Normalizer2::getNFKCCasefoldInstance(status);
    const icu::UnicodeString folded = fold->normalize(
        icu::UnicodeString::fromUTF8({line.data(), static_cast<int>(line.size())}), status);
    for (int32_t at = 0; at < folded.length(); at = folded.moveIndex32(at, 1)) {
      const UChar32 character = folded.char32At(at);
      if (u_isalnum(character) != 0 || IsMark(character))
        AppendUtf8(static_cast<char32_t>(character), &bare);
    }
  }
  return bare.empty() ? std::string(line) : bare;
}

std::vector<std::string> NumbersOf(std::string_view line) {
  std::vector<std::string> numbers;
  bool divided = false, inside = false;  // a divider, or a digit, was the last character
  ForEachCharacter(line, [&](UChar32 character) {
    const int32_t digit = u_charDigitValue(character);
    if (digit < 0) {
      divided = inside && IsBetweenDigits(character);
      inside = false;
      return;
    }
    if (!inside && !divided) numbers.emplace_back();
    numbers.back().push_back(static_cast<char>('0' + digit));
    inside = true;
    divided = false;
  });
  std::ranges::sort(numbers);
  return numbers;
}

}  // namespace attend
