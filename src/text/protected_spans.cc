#include "text/protected_spans.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <cctype>

#include "attend/error.h"
#include "base/edit_distance.h"
#include "base/excerpt.h"
#include "text/words.h"

namespace attend {
namespace {

// What of a match is the span: its size, 0 for none. `before` is what stands in front of it.
using Trim = size_t (*)(std::string_view before, std::string_view match, std::string_view after);

size_t Whole(std::string_view, std::string_view match, std::string_view) { return match.size(); }

bool EndsIn(std::string_view text, const std::vector<std::string_view>& ends) {
  return std::any_of(ends.begin(), ends.end(), [&](auto end) { return text.ends_with(end); });
}

// Without sentence punctuation at the end, and brackets there that close what was not opened.
size_t WithoutLooseEnd(std::string_view match) {
  struct Brackets {
    char open, close;
    std::ptrdiff_t unopened = 0;
  };
  Brackets pairs[] = {{'(', ')'}, {'[', ']'}, {'{', '}'}};
  for (Brackets& pair : pairs) {
    pair.unopened = std::count(match.begin(), match.end(), pair.close) -
                    std::count(match.begin(), match.end(), pair.open);
  }
  const auto loose_end = [&]() -> size_t {
    for (const std::string_view end : {".", ",", ";", ":", "!", "?", "'", "*", "…", "’", "‘", "»"})
      if (match.ends_with(end)) return end.size();
    for (Brackets& pair : pairs)
      if (match.ends_with(pair.close)) return pair.unopened-- > 0 ? 1 : 0;
    return 0;
  };
  while (const size_t end = loose_end()) match.remove_suffix(end);
  return match.size();
}

// A word of its own: no letter or digit runs on before it.
size_t Word(std::string_view before, std::string_view match, std::string_view) {
  return JoinsAtEnd(before) ? 0 : WithoutLooseEnd(match);
}

size_t Path(std::string_view before, std::string_view match, std::string_view after) {
  if (EndsIn(before, {"/", "\\", "<", ":", "}", ".", "~", "-", "@"})) return 0;
  return Word(before, match, after);
}

// A file's name ends where its extension does.
size_t File(std::string_view before, std::string_view match, std::string_view after) {
  if (JoinsAtStart(after) || after.starts_with("_")) return 0;
  return Path(before, match, after);
}

bool IsDigit(char character) { return std::isdigit(static_cast<unsigned char>(character)) != 0; }

size_t Printf(std::string_view before, std::string_view match, std::string_view after) {
  if (!before.empty() && IsDigit(before.back())) return 0;
  // %12 of %123 is no place of an argument.
  if (IsDigit(match.back()) && !after.empty() && IsDigit(after.front())) return 0;
  return match.size();
}

// The bytes of a decimal digit of any script at the start, 0 for none.
size_t DigitAtStart(std::string_view text) {
  if (text.empty()) return 0;
  int32_t at = 0;
  UChar32 character;
  U8_NEXT(reinterpret_cast<const uint8_t*>(text.data()), at,
          static_cast<int32_t>(std::min<size_t>(text.size(), 8)), character);
  return character >= 0 && u_isdigit(character) ? static_cast<size_t>(at) : 0;
}

bool RunsOn(std::string_view after) {
  return JoinsAtStart(after) || DigitAtStart(after) != 0 || after.starts_with("_");
}

// A number does not begin within a word, as the 9 of MP9 does.
bool NumberMayBegin(std::string_view before) {
  return !JoinsAtEnd(before) && !before.ends_with("_");
}

// Ends of ordinals and decades are translated: 2nd, 1990s, 1990er, 5e.
bool NumberMayEnd(std::string_view after) {
  if (!RunsOn(after)) return true;
  for (const std::string_view end : {"st", "nd", "rd", "th", "s", "er", "e"})
    if (after.starts_with(end) && !RunsOn(after.substr(end.size()))) return true;
  return false;
}

size_t Number(std::string_view before, std::string_view match, std::string_view after) {
  return NumberMayBegin(before) && !RunsOn(after) ? match.size() : 0;
}

size_t Degrees(std::string_view before, std::string_view match, std::string_view) {
  return NumberMayBegin(before) ? match.size() : 0;
}

struct Kind {
  const char* name;
  std::vector<std::string> expressions;
  Trim trim = Whole;  // null: AddNumbers
};

constexpr const char* kDigits = R"((?:\p{Nd}{1,3}(?:[ \x{A0}\x{202F}\x{2009}]\p{Nd}{3})+|\p{Nd}+))";

// With its zone: fe80::1%eth0.
constexpr const char* kZonedAddress =
    R"((?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{1,4}%[0-9A-Za-z]+(?:[._\-][0-9A-Za-z]+)*)";

std::vector<std::string> NumberExpressions() {
  return {
      // A date with its time.
      R"(\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:[Zz]|[+-]\d{2}:?\d{2})?)",
      // A version.
      R"([vV]?\d+(?:\.\d+)+(?:[-.]?(?:rc|alpha|beta|dev|post|pre|a|b)[.\-]?\d*)(?:\+[0-9A-Za-z.\-]+)?)",
      R"([vV]\d+(?:\.\d+)*)",
      // IPv6, MAC and other groups of hexadecimal digits.
      kZonedAddress,
      R"((?:[0-9A-Fa-f]{1,4}:){1,7}:(?:[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4})*)?(?:/\d{1,3})?)",
      R"(::(?:[0-9A-Fa-f]{1,4}:)*[0-9A-Fa-f]{1,4}(?:/\d{1,3})?)",
      R"((?:[0-9A-Fa-f]{1,4}:){5,7}[0-9A-Fa-f]{1,4}(?:/\d{1,3})?)",
      R"((?:[0-9A-Fa-f]{2}-){5}[0-9A-Fa-f]{2})",
      R"([0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12})",
      R"(0[xX][0-9A-Fa-f]+|0[bB][01]+|0[oO][0-7]+)",
      // A bank account (IBAN).
      R"([A-Z]{2}\d{2} ?(?:[A-Z]{4}|\d{4})(?: ?\d{4}){2,6}(?: ?\d{1,3})?\b)",
      // A telephone number.
      R"((?:\+\d{1,3}|\(\d{2,5}\))(?:[ ./\-]?\(?\d+\)?)+)",
      // A time: 14h30.
      R"(\d{1,2}h\d{2})"};
}

// A number with what stands before and behind it. What matches may end within digits and words:
// AddNumbers cuts it.
std::string PlainNumber() {
  const std::string number = std::string(kDigits) + R"((?:[.,:/×x^'’·_٫٬–\-]\p{Nd}+)*)";
  const std::string units =
      R"((?:[kmcnµ]?m[²³]|(?:am|pm|AM|PM|[kKMGT]i?B(?:/s)?|[kMG]?Hz|[kMG]?Wh?|km/h|kmh|mph|kph|[kMG]bps|[kMG]bit/s|rpm|fps|bpm|min|sec|hrs?|yrs?|ms|[kmcnµ]?m|[km]?g|[mcd]?[lL]|ft|in|yd|mi|lbs?|oz|ha|px|pt|dpi|dB|m?Ah?|k?cal|kJ|[hkM]?Pa|[kM]?V|bn|mn|tn|[kKMBTGDpxh])\b))";
  return "[#№§]?[+\\-−±~≈<>≤≥]?[$€£¥₹]?" + number +
         R"((?:[eE][+\-−]?\d+)?(?:[½¼¾⅓⅔])?(?:[ \x{A0}\x{202F}]?[%‰]|[°º](?:[CF]\b)?|[′″$€£¥₹])?)" +
         units + "?";
}

std::vector<Kind> FileKinds() {
  const std::string extensions =
      "(?i:7z|aac|aiff|apk|asp|aspx|avi|bak|bash|bat|bin|bmp|bz2|c|cc|cfg|class|cmake|cmd|conf|cpp|"
      "cs|css|csv|cxx|dat|db|deb|dll|dmg|doc|docm|docx|dot|dylib|eml|env|eps|epub|exe|flac|flv|gif|"
      "go|"
      "gz|h|hh|hpp|htm|html|ico|ics|idx|img|ini|ipynb|iso|jar|java|jpe?g|js|json|jsonl|jsx|key|kt|"
      "lock|log|lua|m4a|m4v|md|mdb|mkv|mo|mobi|mov|mp3|mp4|mpe?g|msi|npy|npz|odp|ods|odt|ogg|onnx|"
      "otf|parquet|pdf|pem|php|pkl|pl|png|po|pot|ppt|pptx|properties|ps|ps1|psd|pt|pub|py|pyc|rar|"
      "rb|"
      "rpm|rs|rst|rtf|safetensors|scss|sh|so|spm|sql|sqlite|srt|sub|svg|swift|swp|tar|tbz2|tex|tgz|"
      "tiff?|tmp|tmx|toml|torrent|ts|tsv|tsx|ttf|txt|vb|vcf|vtt|vue|war|wasm|wav|webm|webp|whl|wma|"
      "wmv|woff2?|xhtml|xlf|xliff|xls|xlsm|xlsx|xml|xsd|xsl|xz|ya?ml|zip|zst)\\b";
  const std::string part = R"([\p{L}\p{M}\p{N}_.+@%~=\-]+)";
  return {
      {"file",
       {R"([A-Za-z]:[\\/](?:[^\s\\/:*?"<>|]+(?: [^\s\\/:*?"<>|]+)*[\\/])*[^\s\\/:*?"<>|]*)",
        R"(\\\\[^\s\\/:*?"<>|]+(?:\\[^\s\\/:*?"<>|]+)+)"},
       Word},
      {"file", {R"((?:~|\.{1,2})?/)" + part + "(?:/" + part + ")*/?", R"((?:~|\.{1,2})/)"}, Path},
      {"file",
       {"(?:" + part + R"(/)*[\p{L}\p{M}\p{N}_](?:[\p{L}\p{M}\p{N}_+@~=\-]|\.)*\.)" + extensions},
       File},
      {"file",
       {R"(\.(?:bashrc|dockerignore|editorconfig|env|git|gitattributes|gitignore|htaccess|npmrc|profile|ssh|vimrc|zshrc)\b)"},
       File}};
}

std::vector<Kind> BuiltIn() {
  // No white space, quotes, brackets of markup or full-width punctuation.
  const std::string rest = R"([^\s\x{A0}<>"`|\\^{}“”„«»。，、；：！？（）【】《》「」『』])";
  const std::string domains =
      "(?:com|org|net|edu|gov|mil|info|biz|io|dev|app|ai|co|de|fr|es|nl|ch|eu|uk|pl|cz|se|dk|fi|ru|"
      "ua|jp|cn|kr|br|ca|au|nz|pt|tr|gr|hu|ro|cloud|online|shop|xyz|tech)";
  std::vector<Kind> kinds = {
      {"code", {"```.+?```", "``.+?``", "`[^`\n]+`"}},
      {"tag",
       {R"(<!--.*?-->)", R"(<!\[CDATA\[.*?\]\]>)", R"(</?\d+\s*/?>)",
        R"(<[/?]?[A-Za-z][\w:.\-]*(?:\s+[A-Za-z_:@][\w:.@\-]*(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'<>=`]+))?)*\s*[/?]?>)",
        R"(&(?:[A-Za-z][A-Za-z0-9]+|#\d+|#[xX][0-9A-Fa-f]+);)"}},
      {"url",
       {R"((?i:[a-z][a-z0-9+.\-]*://|www\.|(?:mailto|tel|urn|doi|magnet|data):))" + rest + "+",
        R"((?:[a-z0-9](?:[a-z0-9\-]*[a-z0-9])?\.)+)" + domains + R"((?::\d+)?(?:[/?#])" + rest +
            "*)?",
        R"((?:[a-z0-9](?:[a-z0-9\-]*[a-z0-9])?\.)+[a-z]{2,}(?::\d+)?/)" + rest + "*",
        // A repository: git@example.org:a/b.git.
        R"([A-Za-z0-9_.\-]+@(?:[A-Za-z0-9\-]+\.)+[a-z]{2,}:[\w.~\-]+(?:/[\w.~\-]+)+)",
        R"(10\.\d{4,9}/)" + rest + "+",  // a DOI
        kZonedAddress},
       [](std::string_view before, std::string_view match, std::string_view after) -> size_t {
         if (before.ends_with("@") || before.ends_with(".") || after.starts_with("@")) return 0;
         // A domain's name ends where its letters do.
         if (JoinsAtEnd(match) && JoinsAtStart(after)) return 0;
         return Word(before, match, after);
       }},
      {"email",
       {R"([\p{L}\p{N}_][\p{L}\p{M}\p{N}_.%+'\-]*@[\p{L}\p{N}](?:[\p{L}\p{N}\-]*[\p{L}\p{N}])?(?:\.[\p{L}\p{N}](?:[\p{L}\p{N}\-]*[\p{L}\p{N}])?)+)"},
       Word},
      {"placeholder",
       {R"(%%|%(?:\(\w+\)|<\w+>|\d+\$)?[\-+0#']*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|L|q|j|z|t|I64)?[diouxXeEfFgGaAcCsSpn@])",
        R"(%L?[1-9]\d?)"},
       Printf},
      {"placeholder",
       {R"(\{\{\{[^{}\n]*\}\}\})", R"(\{\{[^{}\n]*\}\})", R"(\{%.*?%\})", R"(<%.*?%>)",
        R"([$#%@]\{[^{}\n]*(?:\{[^{}\n]*\}[^{}\n]*)*\})",
        R"(\{\s*\w+\s*,\s*\w+(?:\s*,(?:[^{}\n]|\{(?:[^{}\n]|\{[^{}\n]*\})*\})*)?\})",
        R"(\{\w+,\s*-?\d+(?::[^{}\n]*)?\})", R"(\{\w+(?: \w+){1,3}\})",
        R"(\{[\w.$@#\-\[\]]*(?:![rsa])?(?::[^{}\s]*)?\})", R"(\$\([^()\n]+\))", R"(\$[A-Za-z_]\w*)",
        R"(\[\[[^\[\]\n]+\]\])", R"(__[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*__)", R"(%[A-Za-z_]\w+%)"}}};
  for (const Kind& kind : FileKinds()) kinds.push_back(kind);
  kinds.push_back({"number",
                   {R"(\d{1,3}° ?\d{1,2}(?:[.,]\d+)?['′’](?: ?\d{1,2}(?:[.,]\d+)?(?:["″”]|''))?)"},
                   Degrees});
  kinds.push_back({"number", NumberExpressions(), Number});
  kinds.push_back({"number", {PlainNumber()}, nullptr});
  kinds.push_back({"number", {R"([½¼¾⅓⅔])"}, Number});
  return kinds;
}

}  // namespace

struct SpanFinder::Rule {
  std::unique_ptr<re2::RE2> expression;
  Trim trim;
};

namespace {

std::unique_ptr<RE2> Compile(const std::string& expression) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_never_capture(false);
  auto compiled = std::make_unique<RE2>("(" + expression + ")", options);
  if (!compiled->ok()) {
    throw Error(ErrorKind::kConfiguration,
                fmt::format("protect_patterns: '{}' is no regular expression of RE2: {}",
                            Excerpt(expression), compiled->error()));
  }
  if (RE2::FullMatch("", *compiled)) {
    throw Error(ErrorKind::kConfiguration,
                fmt::format("protect_patterns: '{}' matches the empty text, expected one that "
                            "takes a character at least",
                            Excerpt(expression)));
  }
  return compiled;
}

// Which of the kinds `wanted` names.
std::vector<std::string> Wanted(const std::vector<std::string>& wanted) {
  const std::vector<std::string> kinds = SpanFinder::Kinds();
  std::vector<std::string> on, known = {"all"};
  for (const std::string& kind : kinds) known.push_back(kind), known.push_back("no-" + kind);
  // Only exceptions are exceptions from all.
  if (std::all_of(wanted.begin(), wanted.end(),
                  [](auto& name) { return name.starts_with("no-"); }) &&
      !wanted.empty())
    on = kinds;
  for (const std::string& name : wanted) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw Error(ErrorKind::kConfiguration,
                  fmt::format("protect names '{}', expected all, {}, or no- before one of these{}",
                              Excerpt(name), fmt::join(kinds, ", "), DidYouMean(name, known)));
    }
    if (name == "all")
      on = kinds;
    else if (!name.starts_with("no-"))
      on.push_back(name);
  }
  for (const std::string& name : wanted)
    if (name.starts_with("no-")) std::erase(on, name.substr(3));
  return on;
}

}  // namespace

FieldList Fields(ProtectionOptions& options) {
  FieldList fields;
  fields
      .Add("protect", &options.protect,
           "kinds of text to copy exactly: all, or any of code, tag, url, email, placeholder, "
           "file, number; no-NAME leaves one out")
      .Add("protect_patterns", &options.protect_patterns,
           "regular expressions (RE2) of further text to copy exactly");
  return fields;
}

std::vector<std::string> SpanFinder::Kinds() {
  std::vector<std::string> names;
  for (const Kind& kind : BuiltIn()) {
    if (names.empty() || names.back() != kind.name) names.emplace_back(kind.name);
  }
  return names;
}

SpanFinder::SpanFinder(const ProtectionOptions& options) {
  for (const std::string& pattern : options.protect_patterns)
    rules_.push_back({Compile(pattern), Whole});
  const std::vector<std::string> wanted = Wanted(options.protect);
  for (const Kind& kind : BuiltIn()) {
    if (std::find(wanted.begin(), wanted.end(), kind.name) == wanted.end()) continue;
    for (const std::string& expression : kind.expressions)
      rules_.push_back({Compile(expression), kind.trim});
  }
}

SpanFinder::~SpanFinder() = default;

namespace {

// What is found, and which bytes it takes.
struct Found {
  std::vector<TextPart> spans;
  std::vector<bool> taken;

  bool IsFree(size_t begin, size_t size) const {
    const auto first = taken.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = first + static_cast<std::ptrdiff_t>(size);
    return std::find(first, last, true) == last;
  }
  void Add(size_t begin, size_t end) {
    std::fill(taken.begin() + static_cast<std::ptrdiff_t>(begin),
              taken.begin() + static_cast<std::ptrdiff_t>(end), true);
    spans.push_back({begin, end});
  }
  // The first place at or after `from` that is taken, or is not; else the end.
  size_t Next(bool is_taken, size_t from) const {
    const auto first = taken.begin() + static_cast<std::ptrdiff_t>(from);
    return static_cast<size_t>(std::find(first, taken.end(), is_taken) - taken.begin());
  }
};

bool FindFrom(const RE2& expression, std::string_view text, size_t from, size_t end,
              TextPart* match) {
  re2::StringPiece found;
  if (!expression.Match({text.data(), text.size()}, from, end, RE2::UNANCHORED, &found, 1))
    return false;
  match->begin = static_cast<size_t>(found.data() - text.data());
  match->end = match->begin + found.size();
  return true;
}

void AddMatches(const RE2& expression, Trim trim, std::string_view text, Found* found) {
  TextPart match;
  for (size_t from = 0;
       from < text.size() && FindFrom(expression, text, from, text.size(), &match);) {
    const size_t matched = match.end - match.begin;
    const size_t size = trim(text.substr(0, match.begin), text.substr(match.begin, matched),
                             text.substr(match.end));
    from = match.begin + std::max<size_t>(matched, 1);
    if (size == 0 || !found->IsFree(match.begin, size)) continue;
    found->Add(match.begin, match.begin + size);
    from = match.begin + size;
  }
}

std::vector<TextPart> DigitRuns(std::string_view text, const TextPart& part) {
  std::vector<TextPart> runs;
  for (size_t at = part.begin; at < part.end;) {
    const size_t size = DigitAtStart(text.substr(at));
    if (size == 0) {
      ++at;
      continue;
    }
    if (runs.empty() || runs.back().end != at) runs.push_back({at, at});
    runs.back().end = at += size;
  }
  return runs;
}

// Where a number that begins with the match ends: "5" of the match "5 202" in "5 2020". The begin
// if it is none.
size_t NumberEnd(std::string_view text, const TextPart& match, const std::vector<TextPart>& runs) {
  const std::string_view number = text.substr(match.begin, match.end - match.begin);
  if (NumberMayEnd(text.substr(match.end)) ||
      EndsIn(number, {"%", "‰", "°", "′", "″", "$", "€", "£", "¥", "₹"}))
    return match.end;
  const auto last = std::find_if(runs.rbegin(), runs.rend(), [&](const TextPart& run) {
    return NumberMayEnd(text.substr(run.end));
  });
  return last == runs.rend() ? match.begin : last->end;
}

// Each run of digits that is no part of a word becomes a part of a span: what does not match in
// full is cut, and the search goes on behind the cut. Every byte is searched a few times at most.
void AddNumbers(const RE2& expression, std::string_view text, Found* found) {
  TextPart match;
  for (size_t from = found->Next(false, 0); from < text.size(); from = found->Next(false, from)) {
    const size_t end = found->Next(true, from);
    while (from < end && FindFrom(expression, text, from, end, &match)) {
      const std::vector<TextPart> runs = DigitRuns(text, match);
      if (!NumberMayBegin(text.substr(0, match.begin))) {
        const auto first = std::find_if(runs.begin(), runs.end(), [&](const TextPart& run) {
          return run.begin > match.begin && NumberMayBegin(text.substr(0, run.begin));
        });
        from = first == runs.end() ? match.end : first->begin;
        continue;
      }
      const size_t number_end = NumberEnd(text, match, runs);
      if (number_end > match.begin) found->Add(match.begin, number_end);
      from = number_end > match.begin ? number_end : match.end;
    }
    from = end;
  }
}

}  // namespace

std::vector<TextPart> SpanFinder::Find(std::string_view text) const {
  Found found;
  found.taken.resize(text.size());
  for (const Rule& rule : rules_) {
    if (rule.trim == nullptr)
      AddNumbers(*rule.expression, text, &found);
    else
      AddMatches(*rule.expression, rule.trim, text, &found);
  }
  std::sort(found.spans.begin(), found.spans.end(),
            [](const TextPart& a, const TextPart& b) { return a.begin < b.begin; });
  return found.spans;
}

}  // namespace attend
