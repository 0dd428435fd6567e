// From a sentence's words to a search for its tree and back: what a Parser, its training and a
// service share.
#ifndef ATTEND_TASKS_PARSING_PARSE_SEARCH_H_
#define ATTEND_TASKS_PARSING_PARSE_SEARCH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attend/tagger.h"
#include "base/json.h"
#include "search/search.h"
#include "tasks/loaded_model.h"
#include "tasks/parsing/tree_rules.h"
#include "tasks/search_work.h"

namespace attend {

TreeSymbols SymbolsOf(const ModelConfig& config);

// The words as a treebank spells them: repaired UTF-8, "(" and ")" as -LRB- and -RRB-.
std::vector<std::string> TreebankWords(std::span<const std::string> words);

// The most tokens of a sentence that the model's encoder reads between bos and eos.
int64_t MaxSentenceTokens(const ModelConfig& config);

// What Model::tokenization, or another object, says of words that are punctuation; none where it
// says nothing. Throws Error(kInput) opening with `where` for a member that is no list of texts.
std::optional<PunctuationWords> PunctuationOf(const Json& tokenization, const std::string& where);
void AddPunctuation(const PunctuationWords& words, Json* tokenization);

// Throws Error(kUsage) for a model of another task, Error(kInput) for one whose symbols do not fit.
std::shared_ptr<const TreeGrammar> GrammarOf(const LoadedModel& loaded);

SearchModel MakeParseSearchModel(const Weights& weights);

// Throws Error(kInput) that opens with `name` ("sentence 3") where the model's learned positions do
// not reach all of it. Precondition: there is a word.
SearchInput MakeParseInput(const LoadedModel& loaded, std::span<const std::string> words,
                           const std::shared_ptr<const TreeGrammar>& grammar,
                           const ParsingOptions& options, const std::string& name);

// The best result's tree.
ParsedText MakeParsedText(std::vector<std::string> words, const std::vector<SearchResult>& results,
                          const TreeSymbols& symbols);

}  // namespace attend

#endif  // ATTEND_TASKS_PARSING_PARSE_SEARCH_H_
