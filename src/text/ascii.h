// Letters and blanks of protocols, whose text is ASCII where it means something.
#ifndef ATTEND_TEXT_ASCII_H_
#define ATTEND_TEXT_ASCII_H_

#include <string>
#include <string_view>

namespace attend {

// A to Z become small; all other bytes stay.
std::string LowerCase(std::string_view text);
// Without the spaces and tabs around it.
std::string_view Trimmed(std::string_view text);

}  // namespace attend

#endif  // ATTEND_TEXT_ASCII_H_
