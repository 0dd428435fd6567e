// SHA-256 digests, as 64 hexadecimal digits.
#ifndef ATTEND_BASE_SHA256_H_
#define ATTEND_BASE_SHA256_H_

#include <filesystem>
#include <string>
#include <string_view>

namespace attend {

std::string Sha256(std::string_view bytes);
std::string Sha256OfFile(const std::filesystem::path& path);

}  // namespace attend

#endif  // ATTEND_BASE_SHA256_H_
