// Terms written into a source, for models that were taught to read them (Dinu et al., "Training
// Neural Machine Translation to Apply Terminology Constraints", ACL 2019):
// "The <term> house <is> Haus </term> is small." Such a model has the tokens in its vocabulary.
#ifndef ATTEND_TEXT_TERM_ANNOTATION_H_
#define ATTEND_TEXT_TERM_ANNOTATION_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/translator.h"
#include "attend/vocabulary.h"
#include "base/random.h"
#include "text/alignment_links.h"
#include "text/term_finder.h"

namespace attend {

inline constexpr std::string_view kTermBegin = "<term>", kTermIs = "<is>", kTermEnd = "</term>";

// Ids of the three tokens; none where the vocabulary lacks one.
std::vector<int32_t> TermTokenIds(const Vocabulary& vocabulary);
// The model of this source vocabulary reads terms.
inline bool ReadsTerms(const Vocabulary& vocabulary) { return !TermTokenIds(vocabulary).empty(); }

struct AnnotatedText {
  std::string text;
  std::vector<int64_t> words;  // for each of its white-space words the one of the text as it was
};

// Writes each term's first target behind it, with spaces around the tokens. `terms`: of the text,
// in order, without overlap.
AnnotatedText WithTerms(std::string_view text, std::span<const FoundTerm> terms);

// A glossary's terms in pairs of texts that are translations of each other. Immutable; safe to use
// from many threads.
class PairTerms {
 public:
  explicit PairTerms(std::shared_ptr<const Glossary> glossary);

  // Terms of the source of which a target stands in the target, in any letter case, with those
  // targets alone. In order, without overlap.
  std::vector<FoundTerm> Find(std::string_view source, std::string_view target) const;

 private:
  std::shared_ptr<const Glossary> glossary_;
  TermFinder targets_;
};

// Phrases of up to kPhraseWords white-space words that are translations of each other: no word of
// either has a link to a word outside the other, and their first and last words have links (Koehn,
// Och and Marcu, "Statistical Phrase-Based Translation", 2003). They go from a letter to a letter,
// with nothing but letters, spaces, hyphens and apostrophes between: numbers are left to be copied.
// A source begins and ends with a word of at least kPhraseLetters letters, so that no phrase is of
// function words alone. In order of their begins; they may overlap. Precondition: the links are to
// words that there are.
inline constexpr int64_t kPhraseWords = 3, kPhraseLetters = 4;
std::vector<FoundTerm> PhrasesOfPair(std::string_view source, std::string_view target,
                                     const AlignmentLinks& links);

// Up to `most` of the terms, as many as are drawn, in order, without overlap.
std::vector<FoundTerm> DrawTerms(std::vector<FoundTerm> terms, int64_t most, Random* random);

}  // namespace attend

#endif  // ATTEND_TEXT_TERM_ANNOTATION_H_
