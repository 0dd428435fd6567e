#include "html/entities.h"

#include <unicode/utf8.h>

#include <array>
#include <charconv>
#include <utility>

namespace attend {
namespace {

// U+00A0 to U+00FF, in order.
constexpr std::string_view kLatin1 =
    "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn "
    "sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave "
    "Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml "
    "ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN "
    "szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave "
    "iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute "
    "ucirc uuml yacute thorn yuml ";
constexpr std::array<std::pair<std::string_view, uint32_t>, 33> kOthers = {
    {{"OElig", 0x152},   {"oelig", 0x153},   {"Scaron", 0x160},  {"scaron", 0x161},
     {"Yuml", 0x178},    {"circ", 0x2C6},    {"tilde", 0x2DC},   {"ensp", 0x2002},
     {"emsp", 0x2003},   {"thinsp", 0x2009}, {"dagger", 0x2020}, {"Dagger", 0x2021},
     {"permil", 0x2030}, {"amp", '&'},       {"lt", '<'},        {"gt", '>'},
     {"quot", '"'},      {"apos", '\''},     {"ndash", 0x2013},  {"mdash", 0x2014},
     {"lsquo", 0x2018},  {"rsquo", 0x2019},  {"sbquo", 0x201A},  {"ldquo", 0x201C},
     {"rdquo", 0x201D},  {"bdquo", 0x201E},  {"bull", 0x2022},   {"hellip", 0x2026},
     {"lsaquo", 0x2039}, {"rsaquo", 0x203A}, {"euro", 0x20AC},   {"trade", 0x2122},
     {"minus", 0x2212}}};

// 0: no character has this name.
uint32_t CharacterNamed(std::string_view name) {
  for (const auto& [known, character] : kOthers) {
    if (known == name) return character;
  }
  uint32_t character = 0xA0;
  for (size_t begin = 0; begin < kLatin1.size(); ++character) {
    const size_t end = kLatin1.find(' ', begin);
    if (kLatin1.substr(begin, end - begin) == name) return character;
    begin = end + 1;
  }
  return 0;
}

}  // namespace

uint32_t CharacterOfEntity(std::string_view name) {
  if (!name.starts_with('#')) return CharacterNamed(name);
  name.remove_prefix(1);
  const bool hexadecimal = name.starts_with('x') || name.starts_with('X');
  if (hexadecimal) name.remove_prefix(1);
  uint32_t character = 0;
  const auto parsed =
      std::from_chars(name.data(), name.data() + name.size(), character, hexadecimal ? 16 : 10);
  // Windows-1252 (HTML standard, section 13.2.5.84).
  constexpr std::array<uint32_t, 32> kWindows = {
      0x20AC, 0x81,   0x201A, 0x192,  0x201E, 0x2026, 0x2020, 0x2021, 0x2C6,  0x2030, 0x160,
      0x2039, 0x152,  0x8D,   0x17D,  0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
      0x2013, 0x2014, 0x2DC,  0x2122, 0x161,  0x203A, 0x153,  0x9D,   0x17E,  0x178};
  if (character >= 0x80 && character < 0xA0) character = kWindows[character - 0x80];
  const bool whole = parsed.ec == std::errc() && parsed.ptr == name.data() + name.size();
  const bool scalar = character > 31 && character < 0x110000 && (character >> 11) != 0x1B;
  return whole && scalar ? character : 0;
}

std::string Utf8(uint32_t character) {
  char bytes[U8_MAX_LENGTH];
  int32_t length = 0;
  U8_APPEND_UNSAFE(bytes, length, character);
  return {bytes, static_cast<size_t>(length)};
}

}  // namespace attend
