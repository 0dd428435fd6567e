// attend._attend.HtmlDocument, by which attend/_html.py translates.
#include <fmt/format.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "attend/error.h"
#include "html/document.h"
#include "python/module/bindings.h"
#include "python/module/texts.h"
#include "text/text_parts.h"

namespace attend {
namespace nb = nanobind;
namespace {

// (source, target) white-space words of a text and its translation.
using Links = std::vector<std::pair<int64_t, int64_t>>;

nb::list TextsOfDocument(const HtmlDocument& document) {
  nb::list texts;
  for (size_t s = 0; s < document.segments(); ++s) texts.append(StrOf(document.Text(s)));
  return texts;
}

// The segment's HTML; its white space at both ends is the translation's too.
std::string TranslateSegment(const HtmlDocument& document, size_t segment,
                             const std::string& translation, const Links& links) {
  const std::string& text = document.Text(segment);
  std::vector<TextPart> parts;
  AddTrimmed(text, 0, text.size(), &parts);
  std::vector<TextPart> translated;
  AddTrimmed(translation, 0, translation.size(), &translated);
  Hypothesis hypothesis;
  if (!translated.empty()) {
    const auto [begin, end, in_word] = translated[0];
    hypothesis.text = translation.substr(begin, end - begin);
  }
  for (const auto& [source, target] : links) hypothesis.alignment.push_back({source, target});
  return document.Translate(segment, parts,
                            [&](size_t) -> const Hypothesis& { return hypothesis; });
}

std::string Translated(const HtmlDocument& document, const nb::list& translations,
                       const std::vector<Links>& alignments) {
  if (translations.size() != document.segments() || alignments.size() != document.segments()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{} translations and {} alignments, expected {} of both, as many as "
                            "the document's texts",
                            translations.size(), alignments.size(), document.segments()));
  }
  std::vector<std::string> segments;
  for (size_t s = 0; s < document.segments(); ++s) {
    segments.push_back(TranslateSegment(document, s, TextOf(translations[s]), alignments[s]));
  }
  return document.Join(segments);
}

}  // namespace

void BindHtml(nb::module_& module) {
  nb::class_<HtmlDocument>(module, "HtmlDocument",
                           "HTML as plain texts, and back with its tags at the right words.")
      .def(
          "__init__",
          [](HtmlDocument* self, const nb::str& html) { new (self) HtmlDocument(TextOf(html)); },
          nb::arg("html"), nb::sig("def __init__(self, html: str) -> None"))
      .def_prop_ro("texts", &TextsOfDocument, nb::sig("def texts(self, /) -> list[str]"),
                   "What is to be translated, without tags.")
      .def(
          "translated",
          [](const HtmlDocument& self, const nb::list& translations,
             const std::vector<Links>& alignments) {
            return StrOf(Translated(self, translations, alignments));
          },
          nb::arg("translations"), nb::arg("alignments"),
          nb::sig("def translated(self, translations: list[str], alignments: "
                  "list[list[tuple[int, int]]]) -> str"),
          "The document with its texts replaced. An alignment has the (source, target) "
          "white-space\n"
          "words of a text and its translation, from 0.");
}

}  // namespace attend
