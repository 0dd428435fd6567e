// Drawings as SVG: the document around them, how text is written and how much room it takes.
#ifndef ATTEND_CLI_SVG_TEXT_H_
#define ATTEND_CLI_SVG_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

namespace attend {

// Text as XML and HTML take it, in content and in quoted attributes; what XML has no place for
// becomes U+FFFD.
std::string EscapeMarkup(const std::string& text);

// A drawing on white, `width` by `height` pixels, with elements `body`; `title` (none where it is
// empty) is not escaped yet.
std::string SvgDocument(double width, double height, const std::string& title,
                        const std::string& body);

// Added to the style of a picture under colours that tell weights: a colourful one would hide them.
inline constexpr const char* kGreyUnderHeat = ";filter:grayscale(1)";

// Where characters begin.
std::vector<size_t> CharacterStarts(const std::string& text);

// In units of the font's size. Characters of three bytes and more may be twice as wide as Latin
// ones.
double TextWidth(const std::string& text);

}  // namespace attend

#endif  // ATTEND_CLI_SVG_TEXT_H_
