// Text as code points, with the white space, case and categories of Python's str.
#ifndef ATTEND_METRICS_CHARACTERS_H_
#define ATTEND_METRICS_CHARACTERS_H_

#include <string>
#include <string_view>
#include <vector>

namespace attend {

bool IsPythonSpace(char32_t character);
// General categories P*, S* and N*.
bool IsPunctuation(char32_t character);
bool IsSymbol(char32_t character);
bool IsNumber(char32_t character);

// str.lower(): full case mapping with the final sigma, in no particular language.
std::u32string LowerCase(std::u32string text);
std::u32string_view StripRight(std::u32string_view text);
// The same of well-formed UTF-8.
std::string StripRight(std::string text);
std::u32string_view StripLeft(std::u32string_view text);
// str.split(): the words lie in `text`.
std::vector<std::u32string_view> SplitWords(std::u32string_view text);
std::u32string ReplaceAll(std::u32string_view text, std::u32string_view from,
                          std::u32string_view to);

}  // namespace attend

#endif  // ATTEND_METRICS_CHARACTERS_H_
