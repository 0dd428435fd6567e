// From trained weights to a model directory: averages, samples written by the LibTorch model,
// provenance.
#ifndef ATTEND_TRAIN_EXPORT_H_
#define ATTEND_TRAIN_EXPORT_H_

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "attend/model_config.h"
#include "attend/nn/transformer.h"
#include "base/log.h"
#include "model/model_directory.h"
#include "model/sample.h"
#include "train/tasks/translation/vocabularies.h"

namespace attend {

// Sentences that samples.json is made from, at most.
inline constexpr size_t kSampleCount = 8;

// The LibTorch model's greedy translation of one sentence, with log-probabilities and the largest
// logits of each step.
Sample MakeSample(nn::Transformer& transformer, const Vocabularies& vocabularies,
                  const std::string& source);

// Averages the weights of checkpoint directories of one run (the newest whole one of a run's
// directory, where that is given) and writes a model directory. Returns the updates of those
// averaged. Throws Error(kInput) for what is not a checkpoint, and for checkpoints of several runs.
std::vector<int64_t> ExportCheckpoints(const std::vector<std::filesystem::path>& checkpoints,
                                       const std::filesystem::path& output, const Log& log);

}  // namespace attend

#endif  // ATTEND_TRAIN_EXPORT_H_
