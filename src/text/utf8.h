// Repair of text that is not UTF-8, the same wherever text enters attend.
#ifndef ATTEND_TEXT_UTF8_H_
#define ATTEND_TEXT_UTF8_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/log.h"

namespace attend {

bool IsValidUtf8(std::string_view text);

// Its characters; U+FFFD for what is malformed.
std::u32string CodePoints(std::string_view text);
// Precondition: nothing is malformed.
int64_t CountCodePoints(std::string_view text);
void AppendUtf8(char32_t character, std::string* text);

// Each maximal subpart of a malformed sequence becomes one U+FFFD (The Unicode Standard,
// section 3.9, "U+FFFD Substitution of Maximal Subparts"), as Python's errors="replace" does, and
// so does each NUL, which no text for a model holds. Scoring keeps NUL, since sacreBLEU does. Where
// `malformed` is given, the number of replacements is added to it.
enum class Nul { kReplaced, kKept };
std::string RepairUtf8(std::string_view text, int64_t* malformed = nullptr,
                       Nul nul = Nul::kReplaced);
// It would change the text.
bool NeedsRepair(std::string_view text);

// Puts `to` for each `from` in the text; false where there is none.
bool Replace(std::string_view from, std::string_view to, std::string* text);

// Warns of `malformed` replacements in the text `name`, where there were any.
void LogMalformed(int64_t malformed, std::string_view name, const Log& log);

}  // namespace attend

#endif  // ATTEND_TEXT_UTF8_H_
