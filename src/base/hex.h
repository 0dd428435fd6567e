// Bytes as hexadecimal digits, in lower case.
#ifndef ATTEND_BASE_HEX_H_
#define ATTEND_BASE_HEX_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace attend {

std::string HexOf(std::span<const uint8_t> bytes);
// Nothing for a text that HexOf does not give.
std::optional<std::vector<uint8_t>> BytesOfHex(const std::string& text);

}  // namespace attend

#endif  // ATTEND_BASE_HEX_H_
