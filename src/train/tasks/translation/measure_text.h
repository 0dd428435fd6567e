// How long the lines of a training text are, and whether they are single sentences: what a model
// says of it.
#ifndef ATTEND_TRAIN_TASKS_TRANSLATION_MEASURE_TEXT_H_
#define ATTEND_TRAIN_TASKS_TRANSLATION_MEASURE_TEXT_H_

#include <optional>
#include <string>
#include <vector>

#include "data/line_corpus.h"
#include "model/training_text.h"

namespace attend {

// Of a corpus of two columns, source first: reads its files of pairs, the first `pair_files`, or
// all if there are none, once more and measures what its filters keep, of long files lines at equal
// distances, some 50,000 in all. `weights` are those of StreamOptions, `language` is the source's
// or "". None where no pair is kept. Throws Error as LineReader does.
std::optional<TrainingText> MeasureText(const LineCorpus& corpus, int64_t pair_files,
                                        const std::vector<double>& weights,
                                        const std::string& language, int threads);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_TRANSLATION_MEASURE_TEXT_H_
