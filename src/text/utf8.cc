#include "text/utf8.h"

#include <fmt/format.h>

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

// Bytes up to the first malformed sequence.
size_t ValidPrefix(std::string_view text) {
  size_t position = 0;
  while (position < text.size()) {
    const Sequence next = NextSequence(text.substr(position));
    if (!next.valid) break;
    position += next.bytes;
  }
  return position;
}

}  // namespace

bool IsValidUtf8(std::string_view text) { return ValidPrefix(text) == text.size(); }

std::string RepairUtf8(std::string_view text, int64_t* malformed) {
  std::string repaired;
  repaired.reserve(text.size());
  while (true) {
    const size_t valid = ValidPrefix(text);
    repaired.append(text.substr(0, valid));
    text.remove_prefix(valid);
    if (text.empty()) return repaired;
    repaired.append(kReplacement);
    if (malformed != nullptr) ++*malformed;
    text.remove_prefix(NextSequence(text).bytes);
  }
}

void LogMalformed(int64_t malformed, std::string_view name, const Log& log) {
  if (malformed == 0) return;
  log(LogLevel::kWarning,
      fmt::format("{} malformed UTF-8 sequences in {} became U+FFFD", malformed, name));
}

}  // namespace attend
