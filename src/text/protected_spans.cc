#include "text/protected_spans.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

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

// The bytes of a last character that is sentence punctuation or closes what was not opened.
size_t LooseEnd(std::string_view match) {
  for (const std::string_view end : {".", ",", ";", ":", "!", "?", "'", "*", "…", "’", "‘", "»"})
    if (match.ends_with(end)) return end.size();
  for (const auto& [open, close] : {std::pair{'(', ')'}, {'[', ']'}, {'{', '}'}}) {
    if (match.ends_with(close) && std::count(match.begin(), match.end(), close) >
                                      std::count(match.begin(), match.end(), open))
      return 1;
  }
  return 0;
}

size_t WithoutLooseEnd(std::string_view match) {
  while (const size_t end = LooseEnd(match)) match.remove_suffix(end);
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

size_t Printf(std::string_view before, std::string_view match, std::string_view) {
  return !before.empty() && std::isdigit(static_cast<unsigned char>(before.back())) ? 0
                                                                                    : match.size();
}

// Not a part of a word, as the 9 of MP9 or the 1990 of 1990s are.
size_t Number(std::string_view before, std::string_view match, std::string_view after) {
  if (JoinsAtEnd(before) || before.ends_with("_")) return 0;
  if (JoinsAtStart(after) || after.starts_with("_")) return 0;
  return match.size();
}

struct Kind {
  const char* name;
  std::vector<std::string> expressions;
  Trim trim = Whole;
};

constexpr const char* kDigits = R"((?:\p{Nd}{1,3}(?:[ \x{A0}\x{202F}\x{2009}]\p{Nd}{3})+|\p{Nd}+))";

std::vector<std::string> NumberExpressions() {
  const std::string digits = kDigits;
  const std::string number = digits + R"((?:[.,:/×x^'’·_٫٬–\-]\p{Nd}+)*)";
  return {
      // A date with its time.
      R"(\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:[Zz]|[+-]\d{2}:?\d{2})?)",
      // A version.
      R"([vV]?\d+(?:\.\d+)+(?:[-.]?(?:rc|alpha|beta|dev|post|pre|a|b)[.\-]?\d*)(?:\+[0-9A-Za-z.\-]+)?)",
      R"([vV]\d+(?:\.\d+)*)",
      // IPv6, MAC and other groups of hexadecimal digits.
      R"((?:[0-9A-Fa-f]{1,4}:){1,7}:(?:[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4})*)?(?:/\d{1,3})?)",
      R"(::(?:[0-9A-Fa-f]{1,4}:)*[0-9A-Fa-f]{1,4}(?:/\d{1,3})?)",
      R"((?:[0-9A-Fa-f]{1,4}:){5,7}[0-9A-Fa-f]{1,4}(?:/\d{1,3})?)",
      R"((?:[0-9A-Fa-f]{2}-){5}[0-9A-Fa-f]{2})",
      R"([0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12})",
      R"(0[xX][0-9A-Fa-f]+|0[bB][01]+|0[oO][0-7]+)",
      // A telephone number.
      R"((?:\+\d{1,3}|\(\d{2,5}\))(?:[ ./\-]?\(?\d+\)?)+)",
      // What stands before and behind numbers.
      "[#№§]?[+\\-−±~≈<>≤≥]?[$€£¥₹]?" + number +
          R"((?:[eE][+\-−]?\d+)?(?:[½¼¾⅓⅔])?(?:[ \x{A0}\x{202F}]?[%‰]|[°º](?:[CF])?|[′″$€£¥₹])?(?:am|pm|AM|PM|[kKMGT]i?B(?:/s)?|[kMG]?Hz|[kMG]W(?:h)?|km/h|ms|[kmcnµ]?m[²³]?|[km]?g|[mcd]?[lL]|px|pt|dpi|mAh|[kM]?V|h)?)",
      R"([½¼¾⅓⅔])"};
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
        R"((?:[a-z0-9](?:[a-z0-9\-]*[a-z0-9])?\.)+[a-z]{2,}(?::\d+)?/)" + rest + "*"},
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
        R"(\{[\w.$@#\-\[\]]*(?:![rsa])?(?::[^{}\s]*)?\})", R"(\$\([^()\n]+\))", R"(\$[A-Za-z_]\w*)",
        R"(\[\[[^\[\]\n]+\]\])", R"(__[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*__)", R"(%[A-Za-z_]\w+%)"}}};
  for (const Kind& kind : FileKinds()) kinds.push_back(kind);
  kinds.push_back({"number", NumberExpressions(), Number});
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
           "kinds of text that are copied exactly: all, or of code, tag, url, email, placeholder, "
           "file, number; no-NAME leaves one out")
      .Add("protect_patterns", &options.protect_patterns,
           "regular expressions (RE2) of further text that is copied exactly");
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

std::vector<TextPart> SpanFinder::Find(std::string_view text) const {
  std::vector<TextPart> spans;
  std::vector<bool> taken(text.size());
  for (const Rule& rule : rules_) {
    re2::StringPiece found;
    for (size_t from = 0; from < text.size();) {
      if (!rule.expression->Match({text.data(), text.size()}, from, text.size(), RE2::UNANCHORED,
                                  &found, 1))
        break;
      const auto begin = static_cast<size_t>(found.data() - text.data());
      const std::string_view match(found.data(), found.size());
      const size_t size =
          rule.trim(text.substr(0, begin), match, text.substr(begin + match.size()));
      from = begin + std::max<size_t>(match.size(), 1);
      const auto first = taken.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto last = first + static_cast<std::ptrdiff_t>(size);
      if (size == 0 || std::find(first, last, true) != last) continue;
      std::fill(first, last, true);
      spans.push_back({begin, begin + size});
      from = begin + size;
    }
  }
  std::sort(spans.begin(), spans.end(),
            [](const TextPart& a, const TextPart& b) { return a.begin < b.begin; });
  return spans;
}

}  // namespace attend
