// Character references of HTML (HTML standard, section 13.1.4).
#ifndef ATTEND_HTML_ENTITIES_H_
#define ATTEND_HTML_ENTITIES_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace attend {

// Bytes of the longest with a name of the standard's, with & and ;
inline constexpr size_t kLongestEntity = 33;

// What stands for a name or number without & and ; as "amp", "#39" or "#x27"; empty for one that is
// not known, and for control characters.
std::string TextOfEntity(std::string_view name);

// The bytes of the longest name at the beginning of the text that may stand without a semicolon, as
// in "copy 2026"; 0: there is none.
size_t EntityAlone(std::string_view text);

}  // namespace attend

#endif  // ATTEND_HTML_ENTITIES_H_
