// Foreign text as an error message may show it.
#ifndef ATTEND_BASE_EXCERPT_H_
#define ATTEND_BASE_EXCERPT_H_

#include <string>
#include <string_view>

namespace attend {

// `text` on one line: control characters become '?', and what is longer than `max_bytes` is cut
// between characters and ends in "...".
std::string Excerpt(std::string_view text, size_t max_bytes = 120);

}  // namespace attend

#endif  // ATTEND_BASE_EXCERPT_H_
