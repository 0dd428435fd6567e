// Which tokenizer BLEU takes for a language, and what is said of texts that do not fit it.
#ifndef ATTEND_METRICS_TOKENIZER_CHOICE_H_
#define ATTEND_METRICS_TOKENIZER_CHOICE_H_

#include <string>
#include <string_view>
#include <vector>

#include "attend/metrics.h"

namespace attend {

// What sacreBLEU takes for the language where that needs no model: kZh, kChar or k13a. The language
// may have a script or a region: "zh", "ZH", "zh-CN", "zho_Hans".
BleuTokenizer TokenizerOf(std::string_view language);

// Of text without white space between its words, by the script of most of its letters: "zh", "ja",
// "ko", "th", "lo", "km", "my" or "bo"; else "".
std::string LanguageByScript(const std::vector<std::string>& lines);

// Chinese and Japanese, for which TER needs `asian_support`.
bool HasIdeographs(std::string_view language);

// What a reader of the score must know of how the references are cut into words; "": nothing.
std::string TokenizerNote(const BleuOptions& options, const std::vector<std::string>& references);

struct NamedText {
  std::string name;  // "output.de"
  const std::vector<std::string>* lines = nullptr;
};
// What sacreBLEU warns of: lines that look tokenized, " ." at their ends, 100 of them or half of
// all. "": they don't.
std::string TokenizedTextWarning(const NamedText& text);

// What there is of the TokenizerNote and the texts' TokenizedTextWarning. The references follow the
// other texts.
std::vector<std::string> BleuWarnings(const BleuOptions& options,
                                      const std::vector<NamedText>& texts);

// The references are of a language that TER should cut into characters, and does not.
bool TerNeedsCharacters(const TerOptions& options, std::string_view language,
                        const std::vector<std::string>& references);

}  // namespace attend

#endif  // ATTEND_METRICS_TOKENIZER_CHOICE_H_
