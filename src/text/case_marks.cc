#include "text/case_marks.h"

#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "text/utf8.h"

namespace attend {
namespace {

constexpr UChar32 kSpace = 0x2581, kCapitalSigma = 0x3A3, kFinalSigma = 0x3C2, kApostrophe = 0x2019;
// A run of capitals has so many words, as many of them of two letters or more.
constexpr int kRunWords = 3, kRunLongWords = 2;

struct Character {
  UChar32 written = 0;
  UChar32 small = 0;  // what stands in the marked text
  size_t begin = 0;   // in bytes

  bool changed() const { return written != small; }
  // Capitals of all letters around it would leave it as it is written.
  bool fits_capitals() const { return u_toupper(small) == written; }
};

bool IsMark(UChar32 c) { return (U_GET_GC_MASK(c) & U_GC_M_MASK) != 0; }

bool InWord(UChar32 c) {
  return (U_GET_GC_MASK(c) & (U_GC_L_MASK | U_GC_M_MASK | U_GC_N_MASK)) != 0 || u_toupper(c) != c ||
         u_tolower(c) != c;
}

// Calls use(character, its first byte) for each character.
template <class Use>
void VisitCharacters(std::string_view text, const Use& use) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  for (size_t next = 0; next < text.size();) {
    const size_t begin = next;
    UChar32 c;
    U8_NEXT_UNSAFE(bytes, next, c);
    use(c, begin);
  }
}

// Bytes of the longest symbol that `text` starts with; 0: none.
size_t SymbolAt(std::string_view text, std::span<const std::string> symbols) {
  size_t longest = 0;
  for (const std::string& symbol : symbols)
    if (symbol.size() > longest && text.starts_with(symbol)) longest = symbol.size();
  return longest;
}

// Normalised again, a small letter may join the marks that follow it.
bool Composes(UChar32 small, std::span<const Character> next) {
  UErrorCode status = U_ZERO_ERROR;
  static const icu::Normalizer2* const nfc = icu::Normalizer2::getNFCInstance(status);
  for (const Character& mark : next) {
    if (!IsMark(mark.written)) return false;
    if (nfc == nullptr || nfc->composePair(small, mark.written) >= 0) return true;
  }
  return false;
}

void MakeSmall(size_t i, std::span<Character> characters) {
  Character& character = characters[i];
  UChar32 small = u_tolower(character.written);
  if (small == character.written || u_toupper(small) != character.written) return;
  if (Composes(small, characters.subspan(i + 1))) return;
  const bool ends_word = i > 0 && InWord(characters[i - 1].written) &&
                         (i + 1 == characters.size() || !InWord(characters[i + 1].written));
  if (character.written == kCapitalSigma && ends_word) small = kFinalSigma;
  character.small = small;
}

std::vector<Character> CharactersOf(std::string_view text, std::span<const std::string> symbols) {
  std::vector<Character> characters;
  VisitCharacters(text, [&](UChar32 c, size_t begin) { characters.push_back({c, c, begin}); });
  size_t symbol_end = 0;
  for (size_t i = 0; i < characters.size(); ++i) {
    const size_t begin = characters[i].begin;
    if (begin < symbol_end) continue;
    symbol_end = begin + SymbolAt(text.substr(begin), symbols);
    if (symbol_end == begin) MakeSmall(i, characters);
  }
  return characters;
}

struct Word {
  size_t begin = 0, end = 0;  // characters
  int changed = 0;
  bool capitals = true;  // all letters, or it has none
};

std::vector<Word> Words(std::span<const Character> characters) {
  std::vector<Word> words;
  for (size_t i = 0; i < characters.size(); ++i) {
    if (!InWord(characters[i].written)) continue;
    if (words.empty() || words.back().end != i) words.push_back({i, i});
    Word& word = words.back();
    word.end = i + 1;
    word.changed += characters[i].changed() ? 1 : 0;
    word.capitals &= characters[i].fits_capitals();
  }
  return words;
}

// Which marks stand before which characters.
class Marker {
 public:
  explicit Marker(std::span<const Character> characters)
      : characters_(characters), words_(Words(characters)), before_(characters.size() + 1) {
    for (size_t word = 0; word < words_.size();) {
      const size_t end = RunEnd(word);
      if (end > word) {
        Before(words_[word].begin, CaseMark::kBegin);
        before_[words_[end - 1].end].push_back(CaseMark::kEnd);
        word = end;
      } else {
        MarkWord(words_[word++]);
      }
    }
  }

  const std::vector<CaseMark>& Before(size_t character) const { return before_[character]; }

 private:
  void Before(size_t character, CaseMark mark) {
    const bool after_space = character > 0 && characters_[character - 1].written == kSpace;
    before_[after_space ? character - 1 : character].push_back(mark);
  }

  // The end of the words in capitals from `first` on, or `first` where they are too few.
  size_t RunEnd(size_t first) {
    size_t end = first, word = first;
    int words = 0, long_words = 0;
    if (words_[first].changed == 0 || first < short_run_end_) return first;
    for (; word < words_.size() && words_[word].capitals; ++word) {
      if (words_[word].changed == 0) continue;
      end = word + 1;
      ++words;
      long_words += words_[word].changed > 1 ? 1 : 0;
    }
    if (words >= kRunWords && long_words >= kRunLongWords) return end;
    short_run_end_ = word;
    return first;
  }

  void MarkWord(const Word& word) {
    if (word.capitals && word.changed > 1) return Before(word.begin, CaseMark::kCapitals);
    for (size_t i = word.begin; i < word.end; ++i) {
      if (!characters_[i].changed()) continue;
      size_t end = i;  // of the capitals that are written together
      int capitals = 0;
      for (size_t j = i; j < word.end && characters_[j].fits_capitals(); ++j) {
        if (!characters_[j].changed()) continue;
        end = j + 1;
        ++capitals;
      }
      Before(i, capitals > 1 ? CaseMark::kBegin : CaseMark::kTitle);
      if (capitals > 1) before_[end].push_back(CaseMark::kEnd);
      i = end - 1;
    }
  }

  std::span<const Character> characters_;
  std::vector<Word> words_;
  size_t short_run_end_ = 0;  // no word before it begins a run: the run that it is in is too short
  std::vector<std::vector<CaseMark>> before_;
};

// The letters of a text as `change` makes them; starts_word: no other of its word is before it.
template <class Change>
std::string Changed(std::string_view text, const Change& change) {
  std::string changed;
  bool in_word = false;
  VisitCharacters(text, [&](UChar32 c, size_t) {
    AppendUtf8(change(c, !in_word), &changed);
    in_word = InWord(c) || (in_word && (c == '\'' || c == kApostrophe));
  });
  return changed;
}

}  // namespace

MarkedText MarkCase(std::string_view text, std::span<const std::string> symbols) {
  const std::vector<Character> characters = CharactersOf(text, symbols);
  const Marker marker(characters);
  MarkedText marked;
  const auto add = [&](std::string_view part, size_t origin) {
    marked.text += part;
    marked.origins.resize(marked.text.size(), origin);
  };
  for (size_t i = 0; i <= characters.size(); ++i) {
    for (const CaseMark mark : marker.Before(i)) {
      const size_t from = mark == CaseMark::kEnd ? i - 1 : i;
      add(kCaseMarks[static_cast<size_t>(mark)], characters[from].begin);
    }
    if (i == characters.size()) break;
    std::string character;
    AppendUtf8(characters[i].small, &character);
    const auto* const own = std::find(kCaseMarks.begin(), kCaseMarks.end(), character);
    if (own != kCaseMarks.end()) {
      const bool end = own == &kCaseMarks[static_cast<size_t>(CaseMark::kEnd)];
      add(end ? kCaseMarks[static_cast<size_t>(CaseMark::kBegin)] : *own, characters[i].begin);
    }
    add(characters[i].small == kSpace ? " " : character, characters[i].begin);
  }
  return marked;
}

std::string ApplyCase(std::string_view text, std::span<const PlacedMark> marks) {
  std::string cased;
  auto mark = marks.begin();
  bool title = false, capitals = false, in_capitals = false, run = false;
  VisitCharacters(text, [&](UChar32 c, size_t begin) {
    for (; mark != marks.end() && mark->position <= begin; ++mark) {
      title |= mark->mark == CaseMark::kTitle;
      capitals |= mark->mark == CaseMark::kCapitals;
      if (mark->mark == CaseMark::kBegin || mark->mark == CaseMark::kEnd)
        run = mark->mark == CaseMark::kBegin;
    }
    const UChar32 capital = u_toupper(c);
    in_capitals &= InWord(c);
    if (capital != c) {
      in_capitals |= capitals;
      if (run || in_capitals || title) c = capital;
      title = capitals = false;
    }
    AppendUtf8(c, &cased);
  });
  return cased;
}

std::string InCapitals(std::string_view text) {
  return Changed(text, [](UChar32 c, bool) { return u_toupper(c); });
}

std::string InTitleCase(std::string_view text) {
  return Changed(text, [](UChar32 c, bool starts_word) { return starts_word ? u_toupper(c) : c; });
}

std::string Capitalised(std::string_view text) {
  const std::u32string characters = CodePoints(text);
  if (characters.empty()) return "";
  std::string first;
  AppendUtf8(characters[0], &first);
  return InCapitals(first) + std::string(text.substr(first.size()));
}

}  // namespace attend
