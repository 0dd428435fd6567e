// Bytes as base64 (RFC 4648, with padding).
#ifndef ATTEND_BASE_BASE64_H_
#define ATTEND_BASE_BASE64_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace attend {

std::string Base64Of(std::span<const uint8_t> bytes);
std::string Base64Of(std::string_view bytes);
// Nothing for a text that is no base64. Line ends and blanks in it are skipped.
std::optional<std::string> BytesOfBase64(std::string_view text);

}  // namespace attend

#endif  // ATTEND_BASE_BASE64_H_
