#include "cli/svg_text.h"

namespace attend {

std::string EscapeMarkup(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
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
