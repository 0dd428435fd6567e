// From TranslationOptions to a search and from its results to hypotheses: what every translator
// shares.
#ifndef ATTEND_TASKS_TRANSLATION_TRANSLATION_SEARCH_H_
#define ATTEND_TASKS_TRANSLATION_TRANSLATION_SEARCH_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/translator.h"
#include "search/search.h"
#include "tasks/search_work.h"
#include "tasks/translation/task_runner.h"
#include "tasks/translation/term_paths.h"
#include "text/term_finder.h"
#include "text/text_parts.h"

namespace attend {

// With the options' shortlist. Throws as Translator's constructors.
TaskRunner MakeTaskRunner(std::shared_ptr<const LoadedModel> loaded,
                          const TranslatorOptions& options);

// Of one model or several; no weights: all have the same one.
TaskRunner MakeTaskRunner(std::vector<std::shared_ptr<const LoadedModel>> models,
                          std::vector<double> weights, const TranslatorOptions& options);

// Tokens that an output may have beyond its input: the paper's, section 6.1.
inline constexpr int64_t kExtraLength = 50;

// The most tokens of output, eos included, of a source of so many ids without eos: max_length, or
// else kExtraLength more than the source has, or more where outputs of training were longer, and
// room for min_length; within the model's learned positions.
int64_t MaxLength(const TaskRunner& runner, int64_t source_length,
                  const TranslationOptions& options);

// The search of one source, given as ids without eos, of which `added` are not the text's own.
// Throws Error(kUsage) for an id outside the vocabulary.
SearchInput MakeSearchInput(const TaskRunner& runner, const std::vector<int32_t>& ids,
                            const TranslationOptions& options, int64_t added = 0);

// The terms of the options' glossary in a text, as RepairUtf8 leaves it, but for those that touch a
// protected span or begin in the first `instruction` bytes, which tell a model its task. None where
// there is no glossary.
std::vector<FoundTerm> FindTerms(const TaskRunner& runner, const std::string& text,
                                 const TranslationOptions& options, bool protect = true,
                                 size_t instruction = 0);

// The text itself: without its first `instruction` bytes, which tell a model its task, and without
// a match of a memory behind it, where the model reads these.
std::string_view OwnText(const TaskRunner& runner, std::string_view text, size_t instruction = 0);

// Ids of a text; none where the vocabulary lacks a letter of it.
std::vector<int32_t> KnownIds(const Vocabulary& vocabulary, const std::string& text);

inline constexpr int64_t kMostSentenceTerms = 16;  // of a sentence that count

// The terms that a search is held to.
struct SentenceTerms {
  int64_t asked = 0;                       // all that were found
  std::shared_ptr<const TermPaths> paths;  // null: none that the model can write
};
SentenceTerms TermsOf(const TaskRunner& runner, std::vector<FoundTerm> found);

// With the special ids of the model, for beams of any size. The runner must outlive it.
SearchModel MakeSearchModel(const TaskRunner& runner);

// As Translation promises; texts are still empty. `terms`: those of the search's input.
std::vector<Hypothesis> MakeHypotheses(std::vector<SearchResult> results,
                                       const SentenceTerms& terms = {});

// A text that says nothing is its own translation, word by word.
Translation CopyOf(const std::string& text, const TranslationOptions& options);

// `target`, what a memory has for `text`, in place of a translation: as it stands, with score 0 and
// the terms of the options' glossary in the text, which it may lack. Terms that touch the text's
// protected `spans` are none.
Translation RememberedTranslation(const std::string& text, const std::string& target,
                                  std::span<const TextPart> spans,
                                  const TranslationOptions& options);

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSLATION_TRANSLATION_SEARCH_H_
