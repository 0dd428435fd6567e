// The files that a text-to-text model learns from: pairs, with a prefix for each task, and plain
// text; how often an epoch uses each.
#ifndef ATTEND_TRAIN_TASKS_TRANSLATION_TEXT_MIXTURE_H_
#define ATTEND_TRAIN_TASKS_TRANSLATION_TEXT_MIXTURE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/log.h"
#include "data/corpus.h"
#include "data/denoising.h"
#include "train/tasks/translation/vocabularies.h"
#include "train/train_options.h"

namespace attend {

// The columns of a corpus of both; `prefixes` are those of the sources.
std::vector<CorpusColumn> PairColumns(const std::vector<std::string>& source,
                                      const std::vector<std::string>& target,
                                      const std::vector<std::string>& prefixes,
                                      const Vocabularies& vocabularies, const ModelConfig& model);
// Of the training text: the files of train_source and train_target, then those of train_text.
std::vector<CorpusColumn> TrainingColumns(const TrainOptions& options,
                                          const Vocabularies& vocabularies);

// What a run hides of its plain text; null without plain text. Throws Error(kConfiguration) for
// vocabularies that do not do.
std::shared_ptr<const Denoising> DenoisingOf(const TrainOptions& options,
                                             const Vocabularies& vocabularies);

// Raffel et al. 2020, section 3.5.2: the share that an epoch has of each file, which holds so many
// examples, is proportional to min(examples, limit)^(1 / temperature). Returns the passes over each
// file that give these shares and as many examples as there are. A `limit` of 0 is none.
// Preconditions: temperature > 0; there are examples.
std::vector<double> MixingWeights(const std::vector<int64_t>& examples, double temperature,
                                  double limit);

// For each file of TrainingColumns: train_weights, or what mixing_temperature makes of the files'
// numbers of lines, which it tells `log`; {} where all files count the same.
std::vector<double> WeightsOf(const TrainOptions& options, const Log& log);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_TRANSLATION_TEXT_MIXTURE_H_
