#include "serve/tasks/translation/language_detector.h"

#ifdef ATTEND_HAS_CLD2
#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>
#include <unicode/locid.h>

#include <algorithm>
#include <array>
#include <cstdio>  // for CLD2's header, which lacks it
#endif

namespace attend {

#ifdef ATTEND_HAS_CLD2

namespace {

// Whose texts CLD2's tables tell apart, in the spelling of CanonicalLanguage. CLD2 has codes of
// more languages and does not tell which of them its tables hold.
constexpr std::array<std::string_view, 82> kDetected = {
    "af", "ar", "az",  "be", "bg",  "bho", "bn", "ca", "ceb", "chr", "cs", "cy", "da", "de",
    "dv", "el", "en",  "es", "et",  "eu",  "fa", "fi", "fil", "fr",  "ga", "gd", "gl", "gu",
    "he", "hi", "hmn", "hr", "ht",  "hu",  "hy", "id", "is",  "it",  "iu", "ja", "jv", "ka",
    "km", "kn", "ko",  "lg", "lif", "lo",  "lt", "lv", "mk",  "ml",  "mr", "ms", "mt", "ne",
    "nl", "no", "or",  "pa", "pl",  "pt",  "ro", "ru", "rw",  "si",  "sk", "sl", "sq", "sr",
    "sv", "sw", "syr", "ta", "te",  "th",  "tr", "uk", "ur",  "vi",  "yi", "zh"};

// Codes of one language are one: he of iw, zh of cmn-Hans.
std::string CanonicalLanguage(const std::string& code) {
  const std::string language = icu::Locale::createCanonical(code.c_str()).getLanguage();
  return language == "nb" || language == "nn" ? "no" : language;
}

constexpr size_t kMostBytesRead = 20000;  // more text makes no difference

// CLD2's code as BCP 47 has it: he, not iw.
std::string CodeOf(CLD2::Language language) {
  UErrorCode status = U_ZERO_ERROR;
  return icu::Locale(CLD2::LanguageCode(language)).toLanguageTag<std::string>(status);
}

std::vector<DetectedLanguage> Detect(std::string_view text, const std::string& expected, int flags,
                                     bool sure) {
  const CLD2::CLDHints hints = {expected.empty() ? nullptr : expected.c_str(), nullptr,
                                CLD2::UNKNOWN_ENCODING, CLD2::UNKNOWN_LANGUAGE};
  CLD2::Language languages[3];
  int percents[3], text_bytes = 0;
  double scores[3];
  bool reliable = false;
  CLD2::ExtDetectLanguageSummary(text.data(), static_cast<int>(text.size()), true, &hints, flags,
                                 languages, percents, scores, nullptr, &text_bytes, &reliable);
  std::vector<DetectedLanguage> found;
  for (int i = 0; i < 3; ++i) {
    if (languages[i] == CLD2::UNKNOWN_LANGUAGE) continue;
    found.push_back({CodeOf(languages[i]), (sure ? 1 : 0.5) * percents[i], sure && reliable});
  }
  return found;
}

}  // namespace

bool HasLanguageDetector() { return true; }

std::vector<DetectedLanguage> DetectLanguages(std::string_view text, const std::string& expected) {
  size_t size = std::min(text.size(), kMostBytesRead);
  while (size < text.size() && (text[size] & 0xC0) == 0x80) --size;  // a whole character
  text = text.substr(0, size);
  std::vector<DetectedLanguage> found = Detect(text, expected, 0, true);
  return found.empty() ? Detect(text, expected, CLD2::kCLDFlagBestEffort, false) : found;
}

std::string DetectableLanguage(const std::string& code) {
  const std::string language = CanonicalLanguage(code);
  return std::ranges::find(kDetected, language) != kDetected.end() ? language : "";
}

bool SurelyOther(std::string_view text, const std::string& language) {
  const std::vector<DetectedLanguage> found = DetectLanguages(text, language);
  return !found.empty() && found[0].sure && CanonicalLanguage(found[0].code) != language;
}

#else

bool HasLanguageDetector() { return false; }
std::vector<DetectedLanguage> DetectLanguages(std::string_view, const std::string&) { return {}; }
std::string DetectableLanguage(const std::string&) { return ""; }
bool SurelyOther(std::string_view, const std::string&) { return false; }

#endif

}  // namespace attend
