// Bodies of type application/x-www-form-urlencoded.
#ifndef ATTEND_SERVE_FORM_H_
#define ATTEND_SERVE_FORM_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attend {

// Names and values in order, decoded. Throws Error(kInput) for a % that no two hexadecimal digits
// follow, or text that is not UTF-8.
std::vector<std::pair<std::string, std::string>> ParseForm(std::string_view body);

}  // namespace attend

#endif  // ATTEND_SERVE_FORM_H_
