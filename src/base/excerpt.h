// Foreign text as an error message may show it.
#ifndef ATTEND_BASE_EXCERPT_H_
#define ATTEND_BASE_EXCERPT_H_

#include <string>
#include <string_view>

namespace attend {

// `text` on one line that drives no terminal: line ends, control characters and marks of direction
// become escapes as JSON writes them (\n, \u001B), bytes that are not UTF-8 become \xFF.
std::string Printable(std::string_view text);

// The same; what is longer than `max_bytes` is cut between characters and ends in "...".
std::string Excerpt(std::string_view text, size_t max_bytes = 120);

}  // namespace attend

#endif  // ATTEND_BASE_EXCERPT_H_
