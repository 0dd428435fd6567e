// Language codes, such as en, en-US or zh-Hant, and how well they match.
#ifndef ATTEND_SERVE_LANGUAGE_CODES_H_
#define ATTEND_SERVE_LANGUAGE_CODES_H_

#include <optional>
#include <string_view>

namespace attend {

// The distance between the code that is `asked` for and the one that a model `has`. 0: they are
// equal, except for case and for - or _ between the parts. It grows with each part that only one of
// them has, as with en for en-US. Empty if the languages differ, or a part that both of them have
// does.
std::optional<int> LanguageDistance(std::string_view asked, std::string_view has);

}  // namespace attend

#endif  // ATTEND_SERVE_LANGUAGE_CODES_H_
