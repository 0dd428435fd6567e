#include "tasks/translation/sentence_splitting.h"

#include <algorithm>

namespace attend {

FieldList SplittingField(SentenceSplitting* splitting) {
  FieldList fields;
  fields.Add("split_sentences", splitting, {"auto", "always", "never"},
             "translate each sentence of a line alone; auto: unless the model was trained on lines "
             "of several sentences");
  return fields;
}

int64_t InputLimit(int64_t asked, SentenceSplitting splitting,
                   const std::optional<TrainingText>& text, int64_t model_takes) {
  constexpr int64_t kUsual = 512, kLeast = 32;
  if (asked == 0) {
    const bool follows = text && splitting != SentenceSplitting::kNever;
    asked = follows ? std::max(text->source_tokens.longest, kLeast) : kUsual;
  }
  return std::min(asked, model_takes);
}

std::string InputLimitHelp() {
  return "0: as many as the longest input of training, at least 32; 512 if the model does not "
         "record it, or for split_sentences never";
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
