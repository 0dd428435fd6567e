// What a language's writing says of a period: abbreviations, ordinals, words that begin sentences.
#ifndef ATTEND_TEXT_SENTENCE_RULES_H_
#define ATTEND_TEXT_SENTENCE_RULES_H_

#include <string>
#include <string_view>
#include <unordered_set>

namespace attend {

// All words are as written, without the period at their end. Those of `titles`, `numbered` and
// `endings` count with a capital first letter too.
struct SentenceRules {
  using Words = std::unordered_set<std::string>;
  Words titles;           // no sentence ends in them: Dr, vs, bzw
  Words numbered;         // none before a number: No, Abb, str
  Words endings;          // a sentence may end in them, where the next word begins one: Inc, usw
  Words suppressed;       // as `endings`, from ICU's lists; only as written
  Words counted;          // words that a number follows, which then is no ordinal: Platz 1
  Words starters;         // words that often begin sentences: The, Er
  Words months;           // after an ordinal, or after a day's number
  bool ordinals = false;  // numbers with a period are ordinals: 3. Oktober
};

// Of "de", "de-AT" or "DE_at"; of an unknown language those that hold in most.
const SentenceRules& SentenceRulesOf(std::string_view language);

}  // namespace attend

#endif  // ATTEND_TEXT_SENTENCE_RULES_H_
