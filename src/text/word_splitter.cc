#include "text/word_splitter.h"

#include <unicode/utf8.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "text/tokenizer_characters.h"

namespace attend {
namespace {

// What stands at a place, and where the next character begins.
template <class Class>
struct Placed {
  Class kind;
  size_t end;
};

template <class Classify>
auto ClassAt(std::string_view text, size_t at, const Classify& classify) {
  UChar32 character = 0;
  size_t end = at;
  U8_NEXT_OR_FFFD(text.data(), end, text.size(), character);
  return Placed<decltype(classify(U'a'))>{classify(static_cast<char32_t>(character)), end};
}

// The end of the characters of one class from `at` on.
template <class Class, class Classify>
size_t RunEnd(std::string_view text, size_t at, Class kind, const Classify& classify) {
  while (at < text.size()) {
    const auto placed = ClassAt(text, at, classify);
    if (placed.kind != kind) break;
    at = placed.end;
  }
  return at;
}

enum class CharacterClass : uint8_t { kSpace, kLetter, kNumber, kWord, kPunctuation, kOther };

// A table for ASCII before the function.
template <CharacterClass (*classify)(char32_t)>
CharacterClass Quick(char32_t character) {
  static const auto ascii = [] {
    std::array<CharacterClass, 0x80> table;
    for (char32_t c = 0; c < 0x80; ++c) table[c] = classify(c);
    return table;
  }();
  return character < 0x80 ? ascii[character] : classify(character);
}

CharacterClass BertClass(char32_t character) {
  if (IsWhiteSpace(character)) return CharacterClass::kSpace;
  return IsPunctuation8(character) ? CharacterClass::kPunctuation : CharacterClass::kOther;
}

CharacterClass RegexClass(char32_t character) {
  if (IsWhiteSpace(character)) return CharacterClass::kSpace;
  return IsWordCharacter16(character) ? CharacterClass::kWord : CharacterClass::kOther;
}

CharacterClass SpaceClass(char32_t character) {
  return IsWhiteSpace(character) ? CharacterClass::kSpace : CharacterClass::kOther;
}

CharacterClass Gpt2Class(char32_t character) {
  if (IsLetter16(character)) return CharacterClass::kLetter;
  if (IsNumber16(character)) return CharacterClass::kNumber;
  return SpaceClass(character);
}

// Runs of one class are words, and so is each character of punctuation.
template <class Classify>
void SplitRuns(std::string_view text, const Classify& classify, const WordVisitor& visit) {
  for (size_t at = 0; at < text.size();) {
    const auto [kind, next] = ClassAt(text, at, classify);
    const bool single = kind == CharacterClass::kPunctuation;
    const size_t end = single ? next : RunEnd(text, next, kind, classify);
    if (kind != CharacterClass::kSpace) visit(text.substr(at, end - at), static_cast<int64_t>(at));
    at = end;
  }
}

// The size of an English ending such as 's; 0 for none.
size_t EndingSize(std::string_view text) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.starts_with(ending)) return ending.size();
  }
  return 0;
}

// The end of a run of white space: before a word its last character goes with the word, if it is a
// space, or else stands alone.
size_t SpaceEnd(std::string_view text, size_t begin) {
  size_t last = begin, end = begin;
  while (end < text.size()) {
    const auto placed = ClassAt(text, end, Quick<Gpt2Class>);
    if (placed.kind != CharacterClass::kSpace) break;
    last = end;
    end = placed.end;
  }
  return end < text.size() && last > begin ? last : end;
}

// As the expression 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// matches one after the other.
void SplitGpt2(std::string_view text, const WordVisitor& visit) {
  for (size_t at = 0; at < text.size();) {
    size_t end = at + EndingSize(text.substr(at));
    if (end == at) {
      const size_t begin = at + (text[at] == ' ' && at + 1 < text.size() ? 1 : 0);
      const CharacterClass kind = ClassAt(text, begin, Quick<Gpt2Class>).kind;
      end = kind == CharacterClass::kSpace ? SpaceEnd(text, at)
                                           : RunEnd(text, begin, kind, Quick<Gpt2Class>);
    }
    visit(text.substr(at, end - at), static_cast<int64_t>(at));
    at = end;
  }
}

void SplitByteLevel(const SplitStep& step, std::string_view text, const WordVisitor& visit) {
  const auto split = [&](std::string_view whole, const WordVisitor& visit_part) {
    if (step.use_regex) return SplitGpt2(whole, visit_part);
    visit_part(whole, 0);
  };
  if (!step.add_prefix_space || text.starts_with(' ')) return split(text, visit);
  const std::string spaced = " " + std::string(text);
  split(spaced, [&](std::string_view word, int64_t begin) { visit(word, begin - 1); });
}

void SplitOnce(const SplitStep& step, std::string_view text, const WordVisitor& visit) {
  switch (step.kind) {
    case SplitKind::kBert:
      return SplitRuns(text, Quick<BertClass>, visit);
    case SplitKind::kWhitespace:
      return SplitRuns(text, Quick<RegexClass>, visit);
    case SplitKind::kWhitespaceSplit:
      return SplitRuns(text, Quick<SpaceClass>, visit);
    case SplitKind::kByteLevel:
      return SplitByteLevel(step, text, visit);
  }
}

void SplitFrom(std::span<const SplitStep> steps, std::string_view text, const WordVisitor& visit) {
  if (steps.empty()) return visit(text, 0);
  if (steps.size() == 1) return SplitOnce(steps[0], text, visit);
  SplitOnce(steps[0], text, [&](std::string_view part, int64_t begin) {
    SplitFrom(steps.subspan(1), part,
              [&](std::string_view word, int64_t at) { visit(word, begin + at); });
  });
}

}  // namespace

void SplitWords(const std::vector<SplitStep>& steps, std::string_view text,
                const WordVisitor& visit) {
  if (!text.empty()) SplitFrom(steps, text, visit);
}

}  // namespace attend
