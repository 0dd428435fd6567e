// Samples of a model from the engine itself, for models that LibTorch cannot run.
#ifndef ATTEND_TASKS_TRANSLATION_SAMPLE_MAKER_H_
#define ATTEND_TASKS_TRANSLATION_SAMPLE_MAKER_H_

#include <memory>
#include <vector>

#include "model/model_directory.h"
#include "model/sample.h"

namespace attend {

// The sources of `samples` with the outputs that the reference kernels give by greedy search.
// Throws as Translator does.
std::vector<Sample> RemakeSamples(const std::shared_ptr<const Model>& model,
                                  std::vector<Sample> samples);

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSLATION_SAMPLE_MAKER_H_
