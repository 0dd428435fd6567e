// Cuts a text into sentences: at terminators with white space behind them (CJK needs none) and at
// line ends, but not behind abbreviations, initials, ordinals or within quoted speech.
#ifndef ATTEND_TEXT_SENTENCE_SPLITTER_H_
#define ATTEND_TEXT_SENTENCE_SPLITTER_H_

#include <string>
#include <string_view>
#include <vector>

namespace attend {

// Parts of `text` that join to exactly `text`: white space stays at the end of the sentence before
// it. `language` is an ISO 639 code ("en", "de-AT"); "" takes the rules of English. Views into
// `text`. Malformed UTF-8 is kept. Empty text gives no part. Thread-safe.
std::vector<std::string_view> SplitSentences(std::string_view text,
                                             const std::string& language = "");

}  // namespace attend

#endif  // ATTEND_TEXT_SENTENCE_SPLITTER_H_
