#include "cli/svg_text.h"

#include <fmt/format.h>

namespace attend {

std::string EscapeMarkup(const std::string& text) {
  std::string escaped;
  for (size_t i = 0; i < text.size(); ++i) {
    // U+FFFE and U+FFFF, which XML does not take.
    if (text.compare(i, 2, "\xEF\xBF") == 0 && i + 2 < text.size() &&
        (text[i + 2] == '\xBE' || text[i + 2] == '\xBF')) {
      escaped += "\xEF\xBF\xBD";
      i += 2;
      continue;
    }
    const char c = text[i];
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped +=
            static_cast<unsigned char>(c) < 0x20 && c != '\t' ? "\xEF\xBF\xBD" : std::string(1, c);
    }
  }
  return escaped;
}

std::string SvgDocument(double width, double height, const std::string& title,
                        const std::string& body) {
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" viewBox="0 0 {0:.0f} {1:.0f}" )"
      R"(font-family="'DejaVu Sans', 'Noto Sans', 'Segoe UI', Arial, sans-serif" fill="#1d2126" role="img">)"
      "\n{2}<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{3}</svg>\n",
      width, height, title.empty() ? "" : fmt::format("<title>{}</title>\n", EscapeMarkup(title)),
      body);
}

std::vector<size_t> CharacterStarts(const std::string& text) {
  std::vector<size_t> starts;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) starts.push_back(i);
  }
  return starts;
}

double TextWidth(const std::string& text) {
  constexpr double kWide = 1.05, kUsual = 0.62;  // on average
  double width = 0;
  for (const size_t start : CharacterStarts(text))
    width += static_cast<unsigned char>(text[start]) >= 0xE3 ? kWide : kUsual;
  return width;
}

}  // namespace attend
