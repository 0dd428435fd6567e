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

// Their pieces, by value: ⇧, ⇪, ⇫ and ⇩. Where a text itself holds one of these characters, it is
// written twice, and ⇩ as ⇫⇩, which else would mark nothing.
inline constexpr std::array<std::string_view, 4> kCaseMarks = {"\u21E7", "\u21EA", "\u21EB",
                                                               "\u21E9"};

struct MarkedText {
  std::string text;
  std::vector<size_t> origins;  // for each byte of `text`, the byte it comes from
};

// Marks the case of a normalised text in which U+2581 stands for a space, and puts spaces for
// those. The mark of a word stands before the space that the word follows. Letters that would not
// come back exactly (İ, ẞ, one that composes with what follows once it is small) stay as they are,
// and so do those of `symbols`, texts that are one piece. Precondition: valid UTF-8.
MarkedText MarkCase(std::string_view text, std::span<const std::string> symbols);

struct PlacedMark {
  size_t position = 0;  // of the byte of the text before which it stands
  CaseMark mark = CaseMark::kTitle;
};

// The text with the capitals that the marks, in order of their positions, say.
std::string ApplyCase(std::string_view text, std::span<const PlacedMark> marks);

// Every letter a capital; the first letter of every word one. Each letter alone is changed: ß
// stays.
std::string InCapitals(std::string_view text);
std::string InTitleCase(std::string_view text);

}  // namespace attend

#endif  // ATTEND_TEXT_CASE_MARKS_H_
