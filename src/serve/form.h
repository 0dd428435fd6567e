// Text of type application/x-www-form-urlencoded.
#ifndef ATTEND_SERVE_FORM_H_
#define ATTEND_SERVE_FORM_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attend {

// Names and values in order, decoded, of a body or of what stands behind the ? of a target. Throws
// Error(kInput) for a % that no two hexadecimal digits follow, text that is not UTF-8, or more than
// 100 members.
std::vector<std::pair<std::string, std::string>> ParseForm(std::string_view form);

// The bytes that a path, or a part of one, stands for. Nothing for a % that no two hexadecimal
// digits follow.
std::optional<std::string> DecodePath(std::string_view path);

}  // namespace attend

#endif  // ATTEND_SERVE_FORM_H_
