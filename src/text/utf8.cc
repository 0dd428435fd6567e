#include "text/utf8.h"

#include <fmt/format.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/counted.h"

namespace attend {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Takes a character, or the maximal subpart of a malformed one, from `*at` on. False where that is
// malformed, or a NUL that is to be replaced.
bool TakeCharacter(std::string_view text, Nul nul, size_t* at) {
  UChar32 character = 0;
  U8_NEXT(text, *at, text.size(), character);
  return character > 0 || (character == 0 && nul == Nul::kKept);
}

// Bytes up to what RepairUtf8 replaces first.
size_t ValidPrefix(std::string_view text, Nul nul) {
  size_t position = 0, next = 0;
  while (next < text.size() && TakeCharacter(text, nul, &next)) position = next;
  return position;
}

}  // namespace

bool IsValidUtf8(std::string_view text) { return ValidPrefix(text, Nul::kKept) == text.size(); }

bool NeedsRepair(std::string_view text) { return ValidPrefix(text, Nul::kReplaced) < text.size(); }

int64_t CountCodePoints(std::string_view text) {
  return std::ranges::count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; });
}

std::u32string CodePoints(std::string_view text) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  std::u32string characters;
  characters.reserve(text.size());
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
    size_t replaced = 0;
    TakeCharacter(text, nul, &replaced);
    text.remove_prefix(replaced);
  }
}

bool Replace(std::string_view from, std::string_view to, std::string* text) {
  std::string replaced;
  size_t start = 0;
  for (size_t at; (at = text->find(from, start)) != text->npos; start = at + from.size())
    replaced.append(*text, start, at - start).append(to);
  if (start == 0) return false;
  *text = replaced.append(*text, start);
  return true;
}

void LogMalformed(int64_t malformed, std::string_view name, const Log& log) {
  if (malformed == 0) return;
  log(LogLevel::kWarning,
      fmt::format("{} in {} became U+FFFD", Counted(malformed, "malformed UTF-8 sequence"), name));
}

}  // namespace attend
