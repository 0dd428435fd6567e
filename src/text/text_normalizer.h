// What a tokenizer does to text before it cuts it.
#ifndef ATTEND_TEXT_TEXT_NORMALIZER_H_
#define ATTEND_TEXT_TEXT_NORMALIZER_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attend {

// Characters are those of text/tokenizer_characters.h.
enum class NormalizerStep {
  kCleanText,       // drops control characters and U+FFFD; white space becomes spaces
  kSpaceChinese,    // puts a space on both sides of each Chinese character
  kDropNonspacing,  // drops non-spacing marks
  kDropMarks,       // drops all marks
  kLower,
  kNfc,
  kNfd,
  kNfkc,
  kNfkd,
};

// A part of a line, or what became of it.
class TrackedText {
 public:
  // `track`: whether places in the line are wanted.
  TrackedText(std::string_view line, size_t begin, size_t end, bool track);

  const std::string& text() const { return text_; }
  bool tracks() const { return track_; }
  // Where in the line the byte `at` of the text comes from, or, at the end, where the part ends.
  // Precondition: tracks().
  size_t OriginOf(size_t at) const { return at < origins_.size() ? origins_[at] : end_; }
  // Takes a new text, and for each of its bytes the byte of the old one that it comes from.
  void Become(std::string text, const std::vector<size_t>& from);

 private:
  std::string text_;
  std::vector<size_t> origins_;
  size_t end_;
  bool track_;
};

void Normalize(const std::vector<NormalizerStep>& steps, TrackedText* text);

}  // namespace attend

#endif  // ATTEND_TEXT_TEXT_NORMALIZER_H_
