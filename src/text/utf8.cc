#include "text/utf8.h"

#include <fmt/format.h>
#include <unicode/utf8.h>

#include <array>
#include <cstddef>

namespace attend {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct Sequence {
  size_t bytes;  // at least 1: a whole character, or the maximal subpart of a malformed one
  bool valid;
};

// Table 3-7 of The Unicode Standard: the second byte's range depends on the first.
Sequence NextSequence(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {1, true};
  size_t length = 0;
  if (lead >= 0xC2 && lead <= 0xDF) length = 2;
  if (lead >= 0xE0 && lead <= 0xEF) length = 3;
  if (lead >= 0xF0 && lead <= 0xF4) length = 4;
  if (length == 0) return {1, false};
  uint8_t low = 0x80, high = 0xBF;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  for (size_t i = 1; i < length; ++i) {
    if (i >= text.size() || byte(i) < low || byte(i) > high) return {i, false};
    low = 0x80;
    high = 0xBF;
  }
  return {length, true};
}

// Bytes up to the first malformed sequence, or to the first NUL that is to be replaced.
size_t ValidPrefix(std::string_view text, Nul nul) {
  size_t position = 0;
  while (position < text.size()) {
    const Sequence next = NextSequence(text.substr(position));
    if (!next.valid || (text[position] == '\0' && nul == Nul::kReplaced)) break;
    position += next.bytes;
  }
  return position;
}

}  // namespace

bool IsValidUtf8(std::string_view text) { return ValidPrefix(text, Nul::kKept) == text.size(); }

bool NeedsRepair(std::string_view text) { return ValidPrefix(text, Nul::kReplaced) < text.size(); }

std::u32string CodePoints(std::string_view text) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  std::u32string characters;
  for (size_t next = 0; next < text.size();) {
    UChar32 character;
    U8_NEXT_OR_FFFD(bytes, next, text.size(), character);
    characters.push_back(static_cast<char32_t>(character));
  }
  return characters;
}

void AppendUtf8(char32_t character, std::string* text) {
  std::array<uint8_t, U8_MAX_LENGTH> bytes;
  size_t size = 0;
  U8_APPEND_UNSAFE(bytes, size, character);
  text->append(reinterpret_cast<const char*>(bytes.data()), size);
}

std::string RepairUtf8(std::string_view text, int64_t* malformed, Nul nul) {
  std::string repaired;
  repaired.reserve(text.size());
  while (true) {
    const size_t valid = ValidPrefix(text, nul);
    repaired.append(text.substr(0, valid));
    text.remove_prefix(valid);
    if (text.empty()) return repaired;
    repaired.append(kReplacement);
    if (malformed != nullptr) ++*malformed;
    text.remove_prefix(NextSequence(text).bytes);
  }
}

bool Replace(std::string_view from, std::string_view to, std::string* text) {
  bool found = false;
  for (size_t at = 0; (at = text->find(from, at)) != text->npos; at += to.size()) {
    text->replace(at, from.size(), to);
    found = true;
  }
  return found;
}

void LogMalformed(int64_t malformed, std::string_view name, const Log& log) {
  if (malformed == 0) return;
  log(LogLevel::kWarning,
      fmt::format("{} malformed UTF-8 sequences in {} became U+FFFD", malformed, name));
}

}  // namespace attend
