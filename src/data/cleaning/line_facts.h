// What rules of cleaning ask of one line of text.
#ifndef ATTEND_DATA_CLEANING_LINE_FACTS_H_
#define ATTEND_DATA_CLEANING_LINE_FACTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

// Scripts by their numbers in ICU (UScriptCode).
using Scripts = std::vector<int>;

// The scripts that a language is usually written in: of "ja" Han, Hiragana and Katakana. Throws
// Error(kConfiguration), opening with `where`, for a code that no language or script has.
Scripts ScriptsOf(const std::string& language, const std::string& where);

struct LineFacts {
  int64_t words = 0;
  int64_t longest_word = 0;  // characters between white space
  int64_t characters = 0;    // without white space
  int64_t letters = 0;       // of these; with marks, such as vowels of Devanagari
  int64_t in_scripts = 0;    // of the letters
  bool malformed = false;    // holds U+FFFD, or control characters other than tabs
  bool spaceless = false;    // has letters of scripts that put no space between words

  double letter_share() const { return Share(letters, characters); }
  double script_share() const { return Share(in_scripts, letters); }

 private:
  // 1 of nothing.
  static double Share(int64_t part, int64_t whole) {
    return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
  }
};

// Words are what stands between white space. Where it has letters of scripts that put none between
// words, these alone count: each of Han, Hiragana and Katakana as a word, and four letters of Thai,
// Lao, Khmer and the like. Letters of no script, or of several, are in all scripts; with no
// `scripts` all letters are.
// Precondition: well-formed UTF-8, here and below.
LineFacts FactsOf(std::string_view line, const Scripts& scripts);

// The line without what does not tell two texts apart: case, white space, punctuation and symbols,
// and forms that Unicode calls compatible (NFKC_Casefold). A line that has nothing else stays.
std::string BareText(std::string_view line);

// The numbers of a line, sorted: their digits in ASCII, without what stands between two digits to
// group or divide them (. , : ' and the narrow spaces).
std::vector<std::string> NumbersOf(std::string_view line);

}  // namespace attend

#endif  // ATTEND_DATA_CLEANING_LINE_FACTS_H_
