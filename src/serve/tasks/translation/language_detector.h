// Which language a text is in, by CLD2 where attend is built with it.
#ifndef ATTEND_SERVE_TASKS_TRANSLATION_LANGUAGE_DETECTOR_H_
#define ATTEND_SERVE_TASKS_TRANSLATION_LANGUAGE_DETECTOR_H_

#include <string>
#include <string_view>
#include <vector>

namespace attend {

struct DetectedLanguage {
  std::string code;  // as en, or zh-Hant
  // Share of the text in percent; half of it where the text is too short to be sure.
  double confidence = 0;
  bool sure = false;
};

bool HasLanguageDetector();
// The language of `code` as SurelyOther takes it: "no" of nb and nn-NO, "fil" of tl. Empty where
// the detector does not know it, as it knows no ast.
std::string DetectableLanguage(const std::string& code);
// Whether the text is surely in another language than `language`.
bool SurelyOther(std::string_view text, const std::string& language);
// At most three, the surest first; none where nothing is known. `text` is UTF-8. With the code of
// an `expected` language a text that may well be in it is taken to be.
std::vector<DetectedLanguage> DetectLanguages(std::string_view text,
                                              const std::string& expected = "");

}  // namespace attend

#endif  // ATTEND_SERVE_TASKS_TRANSLATION_LANGUAGE_DETECTOR_H_
