// Translating and scoring text, for validation and the final test.
#ifndef ATTEND_TRAIN_TASKS_TRANSLATION_TRANSLATION_SCORES_H_
#define ATTEND_TRAIN_TASKS_TRANSLATION_TRANSLATION_SCORES_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "tasks/loaded_model.h"
#include "train/tasks/translation/translation_train_options.h"

namespace attend {

// Source sentences and their translations.
struct ParallelText {
  std::vector<std::string> source, target;
};
// `prefixes` stand before the lines of the source files, one for each of these, or there are none.
// Throws Error(kInput) that names both where the files' line counts differ, or there are no lines.
ParallelText ReadParallelText(const std::vector<std::string>& source,
                              const std::vector<std::string>& target,
                              const std::vector<std::string>& prefixes = {});

struct Outputs {
  std::vector<std::string> lines;
  int64_t cut = 0;  // of them at their greatest length
};

// As `attend translate` does, with the options' beam size and length penalty; one output for each
// line, in order. `translated` hears now and then of how many lines there are outputs.
Outputs TranslateLines(
    const std::shared_ptr<const LoadedModel>& model, const std::vector<std::string>& lines,
    const TranslationTrainOptions& options, int threads,
    const std::function<void(size_t)>& translated = [](size_t) {});

// As `attend evaluate --json` prints them: {"bleu": {"score": 41.02, "signature": "..."}, "chrf":
// ..., "chrf++": ..., "ter": ..., "exact_match": ...}.
Json ScoreTranslations(const std::vector<std::string>& outputs,
                       const std::vector<std::string>& references, const BleuOptions& bleu);

// BLEU as the run's text needs it: the tokenizer follows the target language, or the script of
// the references where that says more.
BleuOptions BleuOf(const TrainOptions& options, const std::vector<std::string>& references);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_TRANSLATION_TRANSLATION_SCORES_H_
