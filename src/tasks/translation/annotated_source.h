// A source with the terms of a glossary in it, for a model that reads them
// (text/term_annotation.h).
#ifndef ATTEND_TASKS_TRANSLATION_ANNOTATED_SOURCE_H_
#define ATTEND_TASKS_TRANSLATION_ANNOTATED_SOURCE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tasks/translation/task_runner.h"
#include "text/span_masker.h"
#include "text/term_annotation.h"
#include "text/term_finder.h"

namespace attend {

struct AnnotatedSource {
  AnnotatedText text;
  std::vector<int32_t> ids;  // of the text, without eos
  int64_t added = 0;         // how many of them the terms take

  // Makes an alignment of the annotated text one of the text that it was made of.
  void Realign(Hypothesis* hypothesis) const;
};

// A masked text, which has these ids, with the first kMostSentenceTerms of the terms that were
// found in the text before it was masked, as many as keep the ids within `most`. Each has the first
// of its targets, among the first few, that the vocabularies read and write, that has no protected
// span and at most 100 bytes. Nothing where no term is left, and where the model reads none.
std::optional<AnnotatedSource> Annotate(const TaskRunner& runner, const MaskedText& masked,
                                        std::span<const int32_t> ids,
                                        std::span<const FoundTerm> found, int64_t most,
                                        bool protect = true);

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSLATION_ANNOTATED_SOURCE_H_
