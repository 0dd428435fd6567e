// What tests and fuzzing of HTML share.
#ifndef ATTEND_HTML_HTML_FIXTURE_H_
#define ATTEND_HTML_HTML_FIXTURE_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "html/document.h"

namespace attend {

// A document whose sentences become what `translate` makes of them.
inline std::string TranslateHtml(
    std::string_view html,
    const std::function<Hypothesis(const std::string& sentence)>& translate) {
  const HtmlDocument document(html);
  std::vector<std::string> translated;
  for (size_t s = 0; s < document.segments(); ++s) {
    const std::string& text = document.Text(s);
    const std::vector<TextPart> parts = SentenceParts(text, "en");
    std::vector<Hypothesis> hypotheses;
    for (const TextPart& part : parts) {
      hypotheses.push_back(translate(text.substr(part.begin, part.end - part.begin)));
    }
    translated.push_back(
        document.Translate(s, parts, [&](size_t i) -> const Hypothesis& { return hypotheses[i]; }));
  }
  return document.Join(translated);
}

}  // namespace attend

#endif  // ATTEND_HTML_HTML_FIXTURE_H_
