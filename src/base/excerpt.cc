#include "base/excerpt.h"

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

namespace attend {
namespace {

bool IsPrintable(UChar32 character) {
  if (u_hasBinaryProperty(character, UCHAR_BIDI_CONTROL)) return false;
  const auto category = u_charType(character);
  return category != U_CONTROL_CHAR && category != U_LINE_SEPARATOR &&
         category != U_PARAGRAPH_SEPARATOR;
}

std::string Escaped(UChar32 character) {
  if (character == '\n') return "\\n";
  if (character == '\r') return "\\r";
  if (character == '\t') return "\\t";
  return fmt::format("\\u{:04X}", static_cast<uint32_t>(character));
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string line;
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  const auto size = static_cast<int64_t>(text.size());
  for (int64_t begin = 0, end = 0; begin < size; begin = end) {
    UChar32 character;
    U8_NEXT(bytes, end, size, character);
    if (character < 0) {
      for (; begin < end; ++begin) line += fmt::format("\\x{:02X}", bytes[begin]);
    } else if (IsPrintable(character)) {
      line += text.substr(begin, end - begin);
    } else {
      line += Escaped(character);
    }
  }
  return line;
}

std::string Excerpt(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return Printable(text);
  size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return Printable(text.substr(0, end)) + "...";
}

}  // namespace attend
