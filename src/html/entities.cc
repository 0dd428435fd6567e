#include "html/entities.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "text/utf8.h"

namespace attend {
namespace {

struct EntityName {
  std::string_view name;
  char32_t first, second = 0;  // 0: one character
  bool alone = false;          // it may stand without its semicolon
};

constexpr EntityName kNames[] = {
#include "html/entity_names.inc"
};

const EntityName* Find(std::string_view name) {
  const auto* found = std::ranges::lower_bound(kNames, name, {}, &EntityName::name);
  return found != std::end(kNames) && found->name == name ? found : nullptr;
}

// Of a number as "39" or "x27"; 0 for what is none.
char32_t CharacterOfNumber(std::string_view digits) {
  const bool hexadecimal = digits.starts_with('x') || digits.starts_with('X');
  if (hexadecimal) digits.remove_prefix(1);
  uint32_t character = 0;
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, character, hexadecimal ? 16 : 10);
  // Windows-1252 (HTML standard, section 13.2.5.84).
  constexpr std::array<uint32_t, 32> kWindows = {
      0x20AC, 0x81,   0x201A, 0x192,  0x201E, 0x2026, 0x2020, 0x2021, 0x2C6,  0x2030, 0x160,
      0x2039, 0x152,  0x8D,   0x17D,  0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
      0x2013, 0x2014, 0x2DC,  0x2122, 0x161,  0x203A, 0x153,  0x9D,   0x17E,  0x178};
  if (character >= 0x80 && character < 0xA0) character = kWindows[character - 0x80];
  const bool whole = parsed.ec == std::errc() && parsed.ptr == end;
  const bool scalar = character < 0x110000 && (character >> 11) != 0x1B;
  return whole && scalar ? character : 0;
}

}  // namespace

std::string TextOfEntity(std::string_view name) {
  EntityName found{};
  if (name.starts_with('#')) {
    found.first = CharacterOfNumber(name.substr(1));
  } else if (const EntityName* known = Find(name)) {
    found = *known;
  }
  std::string text;
  if (found.first < U' ') return text;
  AppendUtf8(found.first, &text);
  if (found.second != 0) AppendUtf8(found.second, &text);
  return text;
}

size_t EntityAlone(std::string_view text) {
  constexpr size_t kLongest = 6;  // "Aacute"
  for (size_t length = std::min(text.size(), kLongest); length > 1; --length) {
    const EntityName* found = Find(text.substr(0, length));
    if (found != nullptr && found->alone) return length;
  }
  return 0;
}

}  // namespace attend
