#include "text/sentence_splitter.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <array>
#include <string>

#include "text/ascii.h"
#include "text/sentence_rules.h"
#include "text/utf8.h"

namespace attend {
namespace {

bool IsSpace(UChar32 c) { return c >= 0 && u_isUWhiteSpace(c) != 0; }
bool IsLineEnd(UChar32 c) {
  return c == '\n' || c == '\r' || c == 0x85 || c == 0x2028 || c == 0x2029;
}
bool IsUpper(UChar32 c) { return c >= 0 && (u_isupper(c) != 0 || u_istitle(c) != 0); }
bool IsLower(UChar32 c) { return c >= 0 && u_islower(c) != 0; }
bool IsLetter(UChar32 c) { return c >= 0 && u_isalpha(c) != 0; }
bool IsDigit(UChar32 c) { return c >= 0 && u_isdigit(c) != 0; }

bool IsPeriod(UChar32 c) { return c == '.' || c == 0x2024; }
bool IsEllipsis(UChar32 c) { return c == 0x2026 || c == 0x22EF; }
bool IsTerminator(UChar32 c) {
  return c >= 0 && (IsPeriod(c) || IsEllipsis(c) || u_hasBinaryProperty(c, UCHAR_S_TERM) != 0);
}
// Scripts that put no white space between sentences.
bool IsUnspaced(UChar32 c) {
  if (c < 0x1000) return false;
  const int width = u_getIntPropertyValue(c, UCHAR_EAST_ASIAN_WIDTH);
  return width == U_EA_WIDE || width == U_EA_FULLWIDTH || width == U_EA_HALFWIDTH;
}
// ؟ and । are followed by white space, but need none.
bool NeedsSpace(UChar32 c) { return c < 0x80 || IsEllipsis(c) || c == 0x203C || c == 0x2047; }

bool IsOpening(UChar32 c) {
  if (c < 0) return false;
  const int type = u_charType(c);
  return type == U_START_PUNCTUATION || type == U_INITIAL_PUNCTUATION || c == 0xBF || c == 0xA1;
}
bool IsQuote(UChar32 c) {
  return c == '"' || c == '\'' || c == 0xBB || c == 0xAB || (c >= 0x2018 && c <= 0x201F) ||
         c == 0x2039 || c == 0x203A || (c >= 0x300C && c <= 0x300F) || c == 0xFF02;
}
bool IsClosing(UChar32 c) {
  if (c < 0) return false;
  const int type = u_charType(c);
  return type == U_END_PUNCTUATION || type == U_FINAL_PUNCTUATION || IsQuote(c);
}
// Goes on with a sentence, wherever it stands.
bool IsContinuation(UChar32 c) {
  return c == ',' || c == ';' || c == ':' || c == 0xFF0C || c == 0x3001 || c == 0xFF1B ||
         c == 0xFF1A || c == 0x60C || c == 0x61B || c == 0x2019;
}
bool IsDash(UChar32 c) { return c >= 0 && u_charType(c) == U_DASH_PUNCTUATION; }

// A text and its characters, by the places of their first bytes.
class Characters {
 public:
  explicit Characters(std::string_view text)
      : text_(text), size_(static_cast<int32_t>(text.size())) {}

  int32_t size() const { return size_; }
  // The character that begins at `place`, -1 where there is none; moves `place` behind it.
  UChar32 Next(int32_t* place) const {
    if (*place >= size_) return -1;
    UChar32 c;
    U8_NEXT(bytes(), *place, size_, c);
    return c;
  }
  UChar32 At(int32_t place) const { return Next(&place); }
  // The character before `place`, which moves to its begin.
  UChar32 Before(int32_t* place) const {
    if (*place <= 0) return -1;
    UChar32 c;
    U8_PREV(bytes(), 0, *place, c);
    return c;
  }
  template <class Matches>
  int32_t Skip(int32_t place, Matches matches) const {
    for (int32_t next = place; place < size_; place = next) {
      if (!matches(Next(&next))) break;
    }
    return place;
  }
  std::string_view Part(int32_t begin, int32_t end) const {
    return text_.substr(begin, end - begin);
  }

 private:
  const uint8_t* bytes() const { return reinterpret_cast<const uint8_t*>(text_.data()); }
  std::string_view text_;
  int32_t size_;
};

// A run of terminators with what closes behind it.
struct Ending {
  int32_t begin = 0, end = 0;  // of the run of terminators
  int32_t behind = 0;          // of closing quotes and brackets, and terminators behind these
  int periods = 0;
  bool ellipsis = false, strong = false, needs_space = true;
  bool quote = false, bracket = false;  // among what closes
};

class Splitter {
 public:
  Splitter(std::string_view text, const std::string& language)
      : text_(text),
        rules_(SentenceRulesOf(language)),
        language_(LowerCase(language.substr(0, 2))) {}

  std::vector<int32_t> Breaks() {
    std::vector<int32_t> breaks;
    for (int32_t place = 0; place < text_.size();) {
      int32_t next = place;
      const UChar32 c = text_.Next(&next);
      if (IsLineEnd(c)) {
        next = text_.Skip(next, IsSpace);
        breaks.push_back(sentence_ = next);
      } else if (Terminates(c)) {
        const Ending ending = ReadEnding(place);
        next = ending.behind;
        const int32_t begin = text_.Skip(next, IsSpace);
        if (!HasLineEnd(next, begin) && begin < text_.size() && Ends(ending, begin)) {
          breaks.push_back(sentence_ = begin);
          next = begin;
        }
      }
      place = next;
    }
    if (breaks.empty() || breaks.back() < text_.size()) breaks.push_back(text_.size());
    return breaks;
  }

 private:
  // The next word, without what opens before it.
  struct Word {
    std::string_view text;
    UChar32 first = -1, second = -1;
    bool is_opened = false, is_after_dash = false;
    UChar32 behind = -1;

    bool IsLowerCase() const { return IsLower(first) && !IsUpper(second); }  // not iPhone
  };

  // Greek asks with a semicolon.
  bool Terminates(UChar32 c) const { return IsTerminator(c) || (c == ';' && language_ == "el"); }

  bool HasLineEnd(int32_t begin, int32_t end) const {
    for (int32_t place = begin; place < end;) {
      if (IsLineEnd(text_.Next(&place))) return true;
    }
    return false;
  }

  // "»" closes where no letter follows; in German »…« the other way round, as in "!« Er".
  bool Closes(UChar32 c, int32_t behind, bool needs_space) const {
    if (!IsClosing(c)) return false;
    if (IsQuote(c) || IsOpening(c)) {
      const UChar32 follows = text_.At(behind);
      if (c == 0x300D || c == 0x300F || c == 0x201D || c == 0x2019) return true;
      if (!needs_space && (c == 0x201C || c == 0x2018)) return false;
      const bool straight = c == '"' || c == '\'';
      return !(IsLetter(follows) || IsDigit(follows)) || (straight && IsUnspaced(follows));
    }
    return true;
  }

  Ending ReadEnding(int32_t place) const {
    Ending ending;
    ending.begin = place;
    const auto read_run = [&] {
      for (int32_t next = place; place < text_.size(); place = next) {
        const UChar32 c = text_.Next(&next);
        if (!Terminates(c)) break;
        ending.periods += IsPeriod(c) ? 1 : 0;
        ending.ellipsis |= IsEllipsis(c);
        ending.strong |= !IsPeriod(c) && !IsEllipsis(c);
        ending.needs_space = NeedsSpace(c);
      }
    };
    read_run();
    ending.end = place;
    while (true) {
      const int32_t before = place;
      // French puts a space before its closing quotes.
      int32_t quote = text_.Skip(place, [](UChar32 c) { return IsSpace(c) && !IsLineEnd(c); });
      const int32_t at = quote;
      const UChar32 c = text_.Next(&quote);
      const bool spaced = at > place && (c == 0xBB || c == 0x203A) && !IsLetter(text_.At(quote)) &&
                          !IsDigit(text_.At(quote));
      if ((at == place || spaced) && Closes(c, quote, ending.needs_space)) {
        (IsQuote(c) ? ending.quote : ending.bracket) = true;
        place = quote;
        read_run();
      }
      if (place == before) break;
    }
    ending.behind = place;
    return ending;
  }

  Word WordAt(int32_t place) const {
    Word word;
    int32_t next = place;
    for (UChar32 c = text_.Next(&next); IsOpening(c) || IsQuote(c) || IsDash(c) || c == '*' ||
                                        (IsSpace(c) && (word.is_opened || word.is_after_dash));
         c = text_.Next(&next)) {
      word.is_opened |= !IsDash(c) && !IsSpace(c);
      word.is_after_dash |= IsDash(c);
      place = next;
    }
    int32_t end = place;
    word.first = text_.Next(&end);
    word.second = text_.At(end);
    end = text_.Skip(place, [](UChar32 c) {
      return IsLetter(c) || IsDigit(c) || c == '\'' || c == 0x2019 || (c >= 0x300 && c < 0x370);
    });
    word.text = text_.Part(place, end);
    word.behind = text_.At(end);
    return word;
  }

  // What stands before a terminator, back to white space or an opening mark; not more than is
  // needed to know abbreviations.
  std::string_view TokenBefore(int32_t end) const {
    constexpr int kLongest = 40;
    int32_t begin = end;
    for (int length = 0; begin > sentence_ && length < kLongest; ++length) {
      int32_t before = begin;
      const UChar32 c = text_.Before(&before);
      if (IsSpace(c) || IsOpening(c) || IsQuote(c) || c == '/' || c == ',' || IsUnspaced(c) ||
          (IsDash(c) && c != '-'))
        break;
      begin = before;
    }
    return text_.Part(begin, end);
  }

  // "т.д" of "т. д": two initials. "": it is none.
  std::string SpacedPair(std::string_view token) const {
    int32_t place = static_cast<int32_t>(token.data() - text_.Part(0, 0).data());
    if (!IsInitials(token) || !IsSpace(text_.Before(&place)) || text_.Before(&place) != '.')
      return "";
    const std::string_view before = TokenBefore(place);
    return IsInitials(before) ? std::string(before) + "." + std::string(token) : "";
  }

  bool Begins(const Word& word) const {
    if (word.behind == '.' && word.text.size() <= 2) return false;  // an initial
    return rules_.starters.contains(std::string(word.text));
  }

  // "MR" as "Mr", "Z.B" as "z.B". "": not in capitals.
  static std::string WithoutCapitals(std::string_view token) {
    std::string lower;
    int letters = 0;
    for (const char32_t c : CodePoints(token)) {
      const auto character = static_cast<UChar32>(c);
      if (IsLower(character)) return "";
      const bool first = letters == 0;
      letters += IsUpper(character) ? 1 : 0;
      AppendUtf8(first ? c : static_cast<char32_t>(u_tolower(character)), &lower);
    }
    return letters > 1 ? lower : "";
  }

  // As written, or with its first letter small; in long words, or capital. In capitals too.
  static bool Has(const SentenceRules::Words& words, std::string_view token) {
    const std::string usual = WithoutCapitals(token);
    return HasWritten(words, token) || (!usual.empty() && HasWritten(words, usual));
  }

  static bool HasWritten(const SentenceRules::Words& words, std::string_view token) {
    constexpr size_t kLong = 4;
    if (words.contains(std::string(token))) return true;
    int32_t behind = 0;
    UChar32 first;
    U8_NEXT(reinterpret_cast<const uint8_t*>(token.data()), behind,
            static_cast<int32_t>(token.size()), first);
    if (!IsUpper(first) && !(IsLower(first) && token.size() >= kLong)) return false;
    std::array<char, U8_MAX_LENGTH> other{};
    int32_t length = 0;
    U8_APPEND_UNSAFE(other.data(), length, IsUpper(first) ? u_tolower(first) : u_toupper(first));
    return words.contains(std::string(other.data(), length).append(token.substr(behind)));
  }

  bool Ends(const Ending& ending, int32_t begin) const {
    const UChar32 first = text_.At(begin);
    const bool spaced = begin > ending.behind;
    if (IsContinuation(first) || (IsClosing(first) && !IsQuote(first))) return false;
    if (!ending.needs_space && ending.strong) return EndsWide(ending, first, spaced);
    if (!spaced) return EndsUnspaced(ending, first);
    const Word next = WordAt(begin);
    if (next.is_after_dash && next.IsLowerCase()) return false;
    if (ending.strong) return EndsStrong(ending, next);
    if (ending.periods > 1 || ending.ellipsis) return EndsEllipsis(ending, next);
    return EndsPeriod(ending, next);
  }

  // 「行きますか？」と言った goes on.
  static bool EndsWide(const Ending& ending, UChar32 first, bool spaced) {
    constexpr std::array<UChar32, 8> kParticles = {0x3068, 0x3063, 0x306E, 0x304C,
                                                   0x3092, 0x306F, 0x306B, 0x3082};
    if (!ending.quote || spaced) return true;
    return std::find(kParticles.begin(), kParticles.end(), first) == kParticles.end();
  }

  // Between scripts that are written without white space.
  bool EndsUnspaced(const Ending& ending, UChar32 first) const {
    int32_t place = ending.begin;
    const bool after_wide = IsUnspaced(text_.Before(&place));
    if (ending.ellipsis && !ending.strong) return false;
    return IsUnspaced(first) && (after_wide || (ending.strong && !IsNameWithMark(ending)));
  }

  bool EndsStrong(const Ending& ending, const Word& next) const {
    int32_t place = ending.begin;
    const UChar32 before = text_.Before(&place);
    if (ending.bracket && IsOpening(before)) return false;  // "(!)"
    if (next.IsLowerCase()) {
      if (ending.quote || ending.bracket) return false;
      if (language_ == "fr" || ending.ellipsis || ending.periods > 0) return false;
    }
    if (IsDigit(next.first) || !next.IsLowerCase() || next.is_opened) {
      return !IsNameWithMark(ending) || Begins(next);
    }
    return !IsNameWithMark(ending);
  }

  // "Yahoo!"
  bool IsNameWithMark(const Ending& ending) const {
    constexpr std::array<std::string_view, 7> kNames = {"Yahoo",  "Jeopardy", "Joomla", "Yum",
                                                        "Kahoot", "Wham",     "Panic"};
    if (text_.Part(ending.begin, ending.end) != "!") return false;
    const std::string_view token = TokenBefore(ending.begin);
    return std::find(kNames.begin(), kNames.end(), token) != kNames.end();
  }

  bool EndsEllipsis(const Ending& ending, const Word& next) const {
    int32_t place = ending.begin;
    if (ending.bracket && IsOpening(text_.Before(&place))) return false;  // "[...]"
    if (next.IsLowerCase() || IsDigit(next.first)) return false;
    return next.text != "I" && !next.text.starts_with("I'") && !next.text.starts_with("I’");
  }

  bool EndsPeriod(const Ending& ending, const Word& next) const {
    if (next.IsLowerCase()) return false;
    const std::string_view token = TokenBefore(ending.begin);
    if (token.empty() || ending.quote) return true;
    if (const std::string pair = SpacedPair(token); !pair.empty() && Has(rules_.endings, pair))
      return Begins(next) || (IsUpper(next.first) && EndsLists(pair));
    if (ending.bracket && IsOpening(text_.At(sentence_))) return true;
    if (Has(rules_.titles, token)) return Has(rules_.endings, token) && Begins(next);
    if (IsNumber(next) && (Has(rules_.numbered, token) || IsStreet(token))) return SaysNo(token);
    if (Has(rules_.endings, token))
      return Begins(next) || (IsUpper(next.first) && EndsLists(token));
    if (rules_.suppressed.contains(std::string(token))) return Begins(next);
    if (std::all_of(token.begin(), token.end(), [](char c) { return c >= '0' && c <= '9'; }))
      return EndsNumber(token, ending, next);
    if (IsInitials(token)) return Begins(next) && !(rules_.ordinals && IsListLetter(token));
    if (IsRoman(token) && (rules_.ordinals || StartsSentence(token))) return Begins(next);
    return true;
  }

  // What stands before `token` and one space or more.
  std::string_view WordBefore(std::string_view token) const {
    auto place = static_cast<int32_t>(token.data() - text_.Part(0, 0).data());
    int32_t before = place;
    while (IsSpace(text_.Before(&before))) place = before;
    return TokenBefore(place);
  }
  // "I said no. 5 people came.", not "See no. 5".
  bool SaysNo(std::string_view token) const {
    constexpr std::array<std::string_view, 6> kSay = {"said",   "say",      "says",
                                                      "saying", "answered", "replied"};
    return token == "no" && std::find(kSay.begin(), kSay.end(), WordBefore(token)) != kSay.end();
  }

  // "Hauptstr".
  static bool IsStreet(std::string_view token) {
    return token.ends_with("str") || token.ends_with("Str");
  }
  // A digit, a Roman numeral or a single letter.
  static bool IsNumber(const Word& word) {
    return IsDigit(word.first) || IsRoman(word.text) || word.text.size() == 1;
  }
  // "etc" and its like, after which any capital begins a sentence.
  static bool EndsLists(std::string_view token) {
    constexpr std::array<std::string_view, 16> kLists = {"etc", "usw", "ecc", "enz", "atd", "apod",
                                                         "itd", "itp", "aj",  "т.д", "т.п", "гг",
                                                         "n.l", "jne", "tms", "yms"};
    return std::find(kLists.begin(), kLists.end(), token) != kLists.end();
  }
  static bool IsListLetter(std::string_view token) { return token.size() == 1 && token[0] > 'Z'; }

  bool StartsSentence(std::string_view token) const {
    return text_.Part(sentence_, sentence_ + static_cast<int32_t>(token.size())).data() ==
           token.data();
  }

  bool EndsNumber(std::string_view token, const Ending& ending, const Word& next) const {
    if (ending.bracket) return true;
    const bool few = token.size() <= 2;
    if (few && StartsSentence(token)) return false;                   // a list's number
    if (few && rules_.ordinals && IsDigit(next.first)) return false;  // 1. 5. 2001
    if (few && rules_.months.contains(std::string(next.text))) return false;
    if (const std::string_view counted = WordBefore(token); !counted.empty() && few)
      if (counted == next.text || rules_.counted.contains(std::string(counted))) return true;
    return !(rules_.ordinals && few && IsLetter(next.first)) || Begins(next);
  }

  // "J", "J.R.R", "U.S", "z.B", "J.-C", "t.ex": letters of any script, each alone, or in groups of
  // up to three where one of them is alone.
  static bool IsInitials(std::string_view token) {
    const Characters letters(token);
    int count = 0, longest = 0, alone = 0, groups = 0;
    for (int32_t place = 0; place < letters.size();) {
      const UChar32 c = letters.Next(&place);
      if (IsLetter(c) && !IsUnspaced(c)) longest = std::max(longest, ++count);
      if (!IsLetter(c) && !(c == '.' && count > 0) && !(c == '-' && count == 0)) return false;
      if (c != '.' && place < letters.size()) continue;
      alone += count == 1 ? 1 : 0;
      ++groups;
      count = 0;
    }
    return alone > 0 && longest <= (groups > 1 ? 3 : 1);
  }

  static bool IsRoman(std::string_view token) {
    return !token.empty() && token.find_first_not_of("IVX") == token.npos;
  }

  Characters text_;
  const SentenceRules& rules_;
  std::string language_;
  int32_t sentence_ = 0;  // where the present sentence begins
};

}  // namespace

std::vector<std::string_view> SplitSentences(std::string_view text, const std::string& language) {
  std::vector<std::string_view> sentences;
  if (text.empty()) return sentences;
  int32_t begin = 0;
  for (const int32_t end : Splitter(text, language).Breaks()) {
    sentences.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return sentences;
}

}  // namespace attend
