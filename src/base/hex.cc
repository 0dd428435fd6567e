#include "base/hex.h"

#include <sodium.h>

namespace attend {

std::string HexOf(std::span<const uint8_t> bytes) {
  std::string text(2 * bytes.size() + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), bytes.data(), bytes.size());
  text.pop_back();
  return text;
}

std::optional<std::vector<uint8_t>> BytesOfHex(const std::string& text) {
  std::vector<uint8_t> bytes(text.size() / 2);
  sodium_hex2bin(bytes.data(), bytes.size(), text.data(), text.size(), nullptr, nullptr, nullptr);
  // It takes capitals too, and what begins with digits.
  if (HexOf(bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace attend
