// Case as pieces of its own: text is lower-cased, and marks before words say which letters were
// capitals, so that "house", "House" and "HOUSE" share their pieces.
#ifndef ATTEND_TEXT_CASE_MARKS_H_
#define ATTEND_TEXT_CASE_MARKS_H_

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

enum class CaseMark {
  kTitle,     // the next letter is a capital
  kCapitals,  // so are all letters of the next word
  kBegin,     // so are all letters up to the next kEnd
  kEnd,
};

// Their tokens, by value: ⇧, ⇪, ⇫ and ⇩. A text that contains one of these characters has it
// doubled, and ⇩ as ⇫⇩, a pair that would otherwise mark nothing.
inline constexpr std::array<std::string_view, 4> kCaseMarks = {"\u21E7", "\u21EA", "\u21EB",
                                                               "\u21E9"};

struct MarkedText {
  std::string text;
  std::vector<size_t> origins;  // for each byte of `text`, the byte it comes from
};

// Marks the case of a normalised text, and turns its U+2581 into spaces. A word's mark precedes the
// space before the word. Two kinds of letters stay as they are: those that would not come back
// exactly (İ, ẞ, and letters that compose with the next one once they are small), and those of
// `symbols`, texts that are one token. Precondition: valid UTF-8.
MarkedText MarkCase(std::string_view text, std::span<const std::string> symbols);

struct PlacedMark {
  size_t position = 0;  // the byte of the text that it precedes
  CaseMark mark = CaseMark::kTitle;
};

// The text with its capitals restored. The marks are in order of position.
std::string ApplyCase(std::string_view text, std::span<const PlacedMark> marks);

// In capitals; with the first letter of each word as a capital. Letters map one to one, so ß
// stays.
std::string InCapitals(std::string_view text);
std::string InTitleCase(std::string_view text);
// With the first character as a capital. Precondition: valid UTF-8.
std::string Capitalised(std::string_view text);

}  // namespace attend

#endif  // ATTEND_TEXT_CASE_MARKS_H_
