#include "metrics/tokenizers.h"

#include "metrics/characters.h"

namespace attend {
namespace {

struct CharacterRange {
  char32_t first, last;
  bool Has(char32_t c) const { return c >= first && c <= last; }
};

template <size_t kSize>
bool IsIn(const CharacterRange (&ranges)[kSize], char32_t c) {
  for (const CharacterRange& range : ranges) {
    if (range.Has(c)) return true;
  }
  return false;
}

bool IsDigit(char32_t c) { return c >= U'0' && c <= U'9'; }
bool IsPeriodOrComma(char32_t c) { return c == U'.' || c == U','; }

// ASCII that always stands alone: all of its punctuation but ' , - . and the space.
bool IsWesternPunctuation(char32_t c) {
  constexpr CharacterRange kRanges[] = {{U'{', U'~'}, {U'[', U'`'}, {U' ', U'&'},
                                        {U'(', U'+'}, {U':', U'@'}, {U'/', U'/'}};
  return c < 0x80 && IsIn(kRanges, c);
}

// White space on both sides of each character that `matches`.
template <class Matches>
std::u32string Isolate(std::u32string_view text, Matches matches) {
  std::u32string out;
  out.reserve(text.size() + text.size() / 4);
  for (const char32_t c : text) {
    if (matches(c)) {
      out.append({U' ', c, U' '});
    } else {
      out.push_back(c);
    }
  }
  return out;
}

enum class PairForm { kAfterFirst, kBeforeFirst };  // "a b ", " a b"

// Splits each pair of neighbours that matches, from left to right; what was matched once takes no
// part in a further match, as in a regular expression's substitution.
template <class First, class Second>
std::u32string SplitPairs(std::u32string_view text, PairForm form, First first, Second second) {
  std::u32string out;
  out.reserve(text.size() + text.size() / 4);
  for (size_t i = 0; i < text.size(); ++i) {
    if (i + 1 == text.size() || !first(text[i]) || !second(text[i + 1])) {
      out.push_back(text[i]);
      continue;
    }
    if (form == PairForm::kBeforeFirst) out.push_back(U' ');
    out.append({text[i], U' ', text[i + 1]});
    if (form == PairForm::kAfterFirst) out.push_back(U' ');
    ++i;
  }
  return out;
}

// Period and comma stay with digits on both sides; a dash leaves the digit before it.
std::u32string SplitPeriodsAndDashes(std::u32string_view text) {
  const auto no_digit = [](char32_t c) { return !IsDigit(c); };
  std::u32string out = SplitPairs(text, PairForm::kAfterFirst, no_digit, IsPeriodOrComma);
  out = SplitPairs(out, PairForm::kBeforeFirst, IsPeriodOrComma, no_digit);
  return SplitPairs(out, PairForm::kAfterFirst, IsDigit, [](char32_t c) { return c == U'-'; });
}

std::u32string TokenizeWestern(std::u32string_view text) {
  return SplitPeriodsAndDashes(Isolate(text, IsWesternPunctuation));
}

std::u32string ResolveEscapes(std::u32string text) {
  if (text.find(U'&') == std::u32string::npos) return text;
  text = ReplaceAll(text, U"&quot;", U"\"");
  text = ReplaceAll(text, U"&amp;", U"&");
  text = ReplaceAll(text, U"&lt;", U"<");
  return ReplaceAll(text, U"&gt;", U">");
}

std::u32string Tokenize13a(std::u32string_view line) {
  std::u32string text = ReplaceAll(line, U"<skipped>", U"");
  text = ReplaceAll(text, U"-\n", U"");
  text = ResolveEscapes(ReplaceAll(text, U"\n", U" "));
  return TokenizeWestern(U" " + text + U" ");
}

std::u32string TokenizeIntl(std::u32string_view line) {
  const auto no_number = [](char32_t c) { return !IsNumber(c); };
  std::u32string text = SplitPairs(line, PairForm::kAfterFirst, no_number, IsPunctuation);
  text = SplitPairs(text, PairForm::kBeforeFirst, IsPunctuation, no_number);
  return Isolate(text, IsSymbol);
}

// sacreBLEU writes the two supplementary blocks with four hexadecimal digits and one more
// character, and Python compares strings: U+2001-2A6D and U+2F81-2FA1 are what that means.
bool IsChinese(char32_t c) {
  constexpr CharacterRange kRanges[] = {
      {0x3400, 0x4db5}, {0x4e00, 0x9fa5}, {0x9fa6, 0x9fbb}, {0xf900, 0xfa2d}, {0xfa30, 0xfa6a},
      {0xfa70, 0xfad9}, {0x2001, 0x2a6d}, {0x2f81, 0x2fa1}, {0xff00, 0xffef}, {0x2e80, 0x2eff},
      {0x3000, 0x303f}, {0x31c0, 0x31ef}, {0x2f00, 0x2fdf}, {0x2ff0, 0x2fff}, {0x3100, 0x312f},
      {0x31a0, 0x31bf}, {0xfe10, 0xfe1f}, {0xfe30, 0xfe4f}, {0x2600, 0x26ff}, {0x2700, 0x27bf},
      {0x3200, 0x32ff}, {0x3300, 0x33ff}};
  return c > 0x2000 && IsIn(kRanges, c);
}

bool IsAsianPunctuation(char32_t c) {
  constexpr CharacterRange kRanges[] = {{0x3001, 0x3002}, {0x3008, 0x3011}, {0x3014, 0x301f},
                                        {0xff61, 0xff65}, {0x30fb, 0x30fb}, {0xff0e, 0xff0e},
                                        {0xff0c, 0xff0c}, {0xff1f, 0xff1f}, {0xff1a, 0xff1b},
                                        {0xff01, 0xff02}, {0xff08, 0xff09}};
  return IsIn(kRanges, c);
}

// Ideographs one by one. Each rule is a substitution of its own in sacreBLEU; a character that two
// of them hit only gets more white space. Its rules for kana need a line that starts with kana, and
// here every line starts with a space, so they never apply.
std::u32string SplitAsian(std::u32string_view text) {
  constexpr CharacterRange kRanges[] = {{0x4e00, 0x9fff}, {0x3400, 0x4dbf}, {0x31c0, 0x31ef},
                                        {0x2e80, 0x2eff}, {0x3300, 0x33ff}, {0xf900, 0xfaff},
                                        {0xfe30, 0xfe4f}, {0x3200, 0x3f22}};
  return Isolate(text, [&](char32_t c) { return IsIn(kRanges, c) || IsAsianPunctuation(c); });
}

template <class Matches>
std::u32string Remove(std::u32string_view text, Matches matches) {
  std::u32string out;
  for (const char32_t c : text) {
    if (!matches(c)) out.push_back(c);
  }
  return out;
}

std::u32string NormalizeForTer(std::u32string_view line) {
  std::u32string text = ReplaceAll(line, U"\n-", U"");
  text = ResolveEscapes(ReplaceAll(text, U"\n", U" "));
  text = Isolate(U" " + text + U" ", IsWesternPunctuation);
  return SplitPeriodsAndDashes(ReplaceAll(text, U"'s ", U" 's "));
}

}  // namespace

std::u32string TokenizeForBleu(BleuTokenizer tokenizer, std::u32string_view line) {
  switch (tokenizer) {
    case BleuTokenizer::k13a:
      return Tokenize13a(line);
    case BleuTokenizer::kIntl:
      return TokenizeIntl(line);
    case BleuTokenizer::kChar:
      return Isolate(line, [](char32_t) { return true; });
    case BleuTokenizer::kZh:
      return TokenizeWestern(Isolate(StripLeft(line), IsChinese));
    default:
      break;
  }
  return std::u32string(line);
}

std::u32string TokenizeForTer(const TerOptions& options, std::u32string line) {
  std::u32string text = options.case_sensitive ? std::move(line) : LowerCase(std::move(line));
  if (options.normalized) {
    text = NormalizeForTer(text);
    if (options.asian_support) text = SplitAsian(text);
  }
  if (options.no_punct) {
    constexpr std::u32string_view kRemoved = U".,?:;!\"()";
    text = Remove(text, [&](char32_t c) { return kRemoved.find(c) != kRemoved.npos; });
    if (options.asian_support) text = Remove(text, IsAsianPunctuation);
  }
  return text;
}

}  // namespace attend
