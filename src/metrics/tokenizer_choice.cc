#include "metrics/tokenizer_choice.h"

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include <algorithm>
#include <array>
#include <map>

#include "metrics/characters.h"
#include "metrics/metric_fields.h"
#include "text/utf8.h"

namespace attend {
namespace {

struct Written {
  const char* name;                   // in English
  std::array<const char*, 18> codes;  // ISO 639-1 first, then 639-2 and 639-3
  UScriptCode script;
};

// Languages whose words white space does not divide, or whose words sacreBLEU asks a model for.
constexpr Written kWritten[] = {{"Chinese",
                                 {"zh", "zho", "chi", "cmn", "yue", "wuu", "nan", "hak", "lzh",
                                  "gan", "hsn", "cdo", "cjy", "mnp", "czh", "czo", "cpx", "cnp"},
                                 USCRIPT_HAN},
                                {"Japanese", {"ja", "jpn"}, USCRIPT_HIRAGANA},
                                {"Korean", {"ko", "kor"}, USCRIPT_HANGUL},
                                {"Thai", {"th", "tha"}, USCRIPT_THAI},
                                {"Lao", {"lo", "lao"}, USCRIPT_LAO},
                                {"Khmer", {"km", "khm"}, USCRIPT_KHMER},
                                {"Burmese", {"my", "mya", "bur"}, USCRIPT_MYANMAR},
                                {"Tibetan", {"bo", "bod", "tib", "dz", "dzo"}, USCRIPT_TIBETAN}};

bool IsAsciiLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// "zh" of "zh-CN", "ZH_Hant" and "__zh__".
std::string PrimarySubtag(std::string_view language) {
  std::string tag;
  for (const char c : language) {
    if (IsAsciiLetter(c)) {
      tag.push_back(static_cast<char>(c | 0x20));
    } else if (!tag.empty()) {
      break;
    }
  }
  return tag;
}

const Written* FindLanguage(std::string_view language) {
  const std::string tag = PrimarySubtag(language);
  for (const Written& each : kWritten) {
    for (const char* code : each.codes) {
      if (code != nullptr && tag == code) return &each;
    }
  }
  return nullptr;
}

UScriptCode ScriptOf(char32_t c) {
  UErrorCode status = U_ZERO_ERROR;
  const UScriptCode script = uscript_getScript(static_cast<UChar32>(c), &status);
  return script == USCRIPT_KATAKANA ? USCRIPT_HIRAGANA : script;
}

std::string NameOf(BleuTokenizer tokenizer) {
  BleuOptions options;
  options.tokenize = tokenizer;
  return Fields(options).Get("tokenize", "").ValueText();
}

}  // namespace

BleuTokenizer TokenizerOf(std::string_view language) {
  const Written* written = FindLanguage(language);
  if (written == nullptr) return BleuTokenizer::k13a;
  return written->script == USCRIPT_HAN ? BleuTokenizer::kZh : BleuTokenizer::kChar;
}

std::string LanguageByScript(const std::vector<std::string>& lines) {
  constexpr size_t kEnough = 100000;
  constexpr size_t kJapaneseKana = 10;  // of 100 letters; Chinese text has almost none
  std::map<UScriptCode, size_t> counts;
  size_t letters = 0;
  for (const std::string& line : lines) {
    for (const char32_t c : CodePoints(line)) {
      if (!u_isalpha(static_cast<UChar32>(c))) continue;
      ++letters;
      ++counts[ScriptOf(c)];
    }
    if (letters > kEnough) break;
  }
  if (100 * counts[USCRIPT_HIRAGANA] >= kJapaneseKana * letters) {
    counts[USCRIPT_HIRAGANA] += counts[USCRIPT_HAN];
    counts[USCRIPT_HAN] = 0;
  }
  for (const Written& each : kWritten) {
    if (2 * counts[each.script] > letters) return each.codes[0];
  }
  return "";
}

bool HasIdeographs(std::string_view language) {
  const Written* written = FindLanguage(language);
  return written != nullptr &&
         (written->script == USCRIPT_HAN || written->script == USCRIPT_HIRAGANA);
}

std::string TokenizerNote(const BleuOptions& options, const std::vector<std::string>& references) {
  const bool is_auto = options.tokenize == BleuTokenizer::kAuto;
  const BleuTokenizer taken = is_auto ? TokenizerOf(options.language) : options.tokenize;
  const Written* given = FindLanguage(options.language);
  const Written* found = given != nullptr ? given : FindLanguage(LanguageByScript(references));
  if (found == nullptr) return "";
  if (is_auto && given != nullptr && taken == BleuTokenizer::kChar) {
    return fmt::format(
        "BLEU cuts {} into characters (tokenize char); words need tokenize spm with "
        "a tokenize_model",
        found->name);
  }
  const bool at_white_space = taken == BleuTokenizer::k13a || taken == BleuTokenizer::kIntl;
  if (!at_white_space) return "";
  return fmt::format(
      "the references are {}, which BLEU's tokenizer {} cuts at white space alone, so that good "
      "translations score near 0; {}",
      found->name, NameOf(taken),
      is_auto ? fmt::format("set language to {}, or tokenize to {}", found->codes[0],
                            NameOf(TokenizerOf(found->codes[0])))
              : fmt::format("set tokenize to {} or auto", NameOf(TokenizerOf(found->codes[0]))));
}

std::string TokenizedTextWarning(const NamedText& text) {
  const std::vector<std::string>& lines = *text.lines;
  constexpr size_t kMany = 100;
  const auto count = static_cast<size_t>(std::count_if(
      lines.begin(), lines.end(), [](const std::string& line) { return line.ends_with(" ."); }));
  if (count == 0 || (count < kMany && 2 * count < lines.size())) return "";
  return fmt::format(
      "{}: {} of {} lines end in a tokenized period (' .'); BLEU expects text that "
      "is not tokenized, so detokenize it, or the score may be wrong",
      text.name, count, lines.size());
}

std::vector<std::string> BleuWarnings(const BleuOptions& options,
                                      const std::vector<NamedText>& texts) {
  std::vector<std::string> warnings = {TokenizerNote(options, *texts.back().lines)};
  if (options.tokenize != BleuTokenizer::kNone) {
    for (const NamedText& text : texts) warnings.push_back(TokenizedTextWarning(text));
  }
  std::erase(warnings, "");
  return warnings;
}

bool TerNeedsCharacters(const TerOptions& options, std::string_view language,
                        const std::vector<std::string>& references) {
  const bool cuts = options.normalized && options.asian_support;
  return !cuts && (HasIdeographs(language) || HasIdeographs(LanguageByScript(references)));
}

}  // namespace attend
