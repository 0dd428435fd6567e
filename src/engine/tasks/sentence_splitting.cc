#include "engine/tasks/sentence_splitting.h"

#include <algorithm>

namespace attend {

FieldList SplittingField(SentenceSplitting* splitting) {
  FieldList fields;
  fields.Add("split_sentences", splitting, {"auto", "always", "never"},
             "translate each sentence of a line alone; auto: unless the model was trained on lines "
             "of several sentences");
  return fields;
}

int64_t WholeLineTokens(SentenceSplitting splitting, const std::optional<TrainingText>& text,
                        int64_t limit) {
  switch (splitting) {
    case SentenceSplitting::kAlways:
      return 0;
    case SentenceSplitting::kNever:
      return limit;
    case SentenceSplitting::kAuto:
      break;
  }
  if (!text || !text->HasSeveralSentences()) return 0;
  return std::min(limit, std::max<int64_t>(text->source_tokens.longest, 1));
}

}  // namespace attend
