#include "fuzz/harness.h"
#include "serve/html_document.h"
#include "text/lines.h"

namespace attend {
namespace {

// Its words in reverse, so that tags part and cross.
Hypothesis Reversed(const std::string& text) {
  const auto words = static_cast<int64_t>(WordEnds(text).size());
  Hypothesis hypothesis;
  hypothesis.text = text;
  for (int64_t w = 0; w < words; ++w) hypothesis.alignment.push_back({w, words - 1 - w});
  return hypothesis;
}

void TranslateHtml(std::string_view html) {
  const HtmlDocument document(html);
  std::vector<std::string> translated;
  for (size_t s = 0; s < document.segments(); ++s) {
    const std::string& text = document.Text(s);
    const std::vector<TextPart> parts = SentenceParts(text, "en");
    std::vector<Hypothesis> hypotheses;
    for (const TextPart& part : parts) {
      hypotheses.push_back(Reversed(text.substr(part.begin, part.end - part.begin)));
    }
    translated.push_back(
        document.Translate(s, parts, [&](size_t i) -> const Hypothesis& { return hypotheses[i]; }));
  }
  document.Join(translated);
}

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return attend::ReadForeign(data, size, attend::ErrorKind::kInput, attend::TranslateHtml);
}
