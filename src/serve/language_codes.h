// Codes of languages, as en, en-US or zh-Hant, and how well one stands for another.
#ifndef ATTEND_SERVE_LANGUAGE_CODES_H_
#define ATTEND_SERVE_LANGUAGE_CODES_H_

#include <optional>
#include <string_view>

namespace attend {

// How far the code that a model `has` is from the one that is `asked` for: 0 for the same one,
// whatever the case and whether - or _ stands between its parts; more for each part that one of
// them has more than the other, as en stands for en-US. Nothing where the language, or a part that
// both have, is another.
std::optional<int> LanguageDistance(std::string_view asked, std::string_view has);

}  // namespace attend

#endif  // ATTEND_SERVE_LANGUAGE_CODES_H_
