#include "tasks/translation/annotated_source.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "tasks/translation/translation_search.h"
#include "text/utf8.h"

namespace attend {
namespace {

constexpr int64_t kMostTargetBytes = 100;  // a term is no sentence
constexpr size_t kMostTargets = 4;         // of a term that are looked at

// Where something that touches no span stands in the masked text.
size_t MaskedPlace(const MaskedText& masked, size_t place) {
  size_t moved = place;
  for (const ReplacedPart& part : masked.places) {
    if (part.to.end > place) break;
    moved += (part.from.end - part.from.begin) - (part.to.end - part.to.begin);
  }
  return moved;
}

bool Reads(const Vocabulary& vocabulary, const std::string& text) {
  return !KnownIds(vocabulary, text).empty();
}

// Null: there is none that the model can read and write.
const TermTarget* UsableTarget(const TaskRunner& runner, const FoundTerm& term, bool protect) {
  for (const TermTarget& target :
       std::span(term.targets).first(std::min(term.targets.size(), kMostTargets))) {
    if (std::ssize(target.text) > kMostTargetBytes) continue;
    if (runner.Mask(target.text, protect).found > 0) continue;
    if (Reads(runner.source(), target.text) && Reads(runner.target(), target.text)) return &target;
  }
  return nullptr;
}

}  // namespace

void AnnotatedSource::Realign(Hypothesis* hypothesis) const {
  for (AlignmentLink& link : hypothesis->alignment) link.source = text.words.at(link.source);
}

std::optional<AnnotatedSource> Annotate(const TaskRunner& runner, const MaskedText& masked,
                                        std::span<const int32_t> ids,
                                        std::span<const FoundTerm> found, int64_t most,
                                        bool protect) {
  if (found.empty() || !runner.reads_terms()) return std::nullopt;
  const std::string text = RepairUtf8(masked.text);
  std::vector<FoundTerm> terms;
  for (const FoundTerm& term : found.first(std::min<size_t>(found.size(), kMostSentenceTerms))) {
    const TermTarget* target = UsableTarget(runner, term, protect);
    const size_t begin = MaskedPlace(masked, term.begin);
    if (target != nullptr) terms.push_back({begin, begin + term.end - term.begin, {*target}});
  }
  for (; !terms.empty(); terms.pop_back()) {
    AnnotatedSource annotated{.text = WithTerms(text, terms), .ids = {}, .added = 0};
    annotated.ids = runner.source().Encode(annotated.text.text);
    annotated.added = std::ssize(annotated.ids) - std::ssize(ids);
    if (std::ssize(annotated.ids) <= most) return annotated;
  }
  return std::nullopt;
}

}  // namespace attend
