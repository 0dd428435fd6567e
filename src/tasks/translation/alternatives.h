// Alternatives at a position of an output: what may follow its beginning. Two searches find them,
// of the next token and then of the rest behind each; a translator runs them, or a service.
#ifndef ATTEND_TASKS_TRANSLATION_ALTERNATIVES_H_
#define ATTEND_TASKS_TRANSLATION_ALTERNATIVES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attend/translator.h"
#include "search/search.h"
#include "tasks/translation/task_runner.h"

namespace attend {

// Changes the search of an output with a prefix into that of the tokens which are likeliest behind
// it, enough for so many words.
void SearchNextToken(int64_t words, SearchInput* input);

// The prefix with each of the tokens that begin a word after it, of what that search found; the
// prefix alone where there is none.
std::vector<std::vector<int32_t>> LongerPrefixes(const TaskRunner& runner,
                                                 const std::vector<int32_t>& prefix,
                                                 std::span<const Hypothesis> found);

// Of the best outputs with each of these, in text with this prefix: `count` hypotheses at most,
// best first, which all differ in the next word.
Translation BestByNextWord(std::vector<Translation> found, const std::string& prefix,
                           int64_t count);

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSLATION_ALTERNATIVES_H_
