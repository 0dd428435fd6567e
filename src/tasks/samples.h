// Samples of a model directory, replayed and made by the engine.
#ifndef ATTEND_TASKS_SAMPLES_H_
#define ATTEND_TASKS_SAMPLES_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/loaded_model.h"
#include "attend/vocabulary.h"
#include "model/sample.h"

namespace attend {

// About so many digits of pixels at most: samples.json has at most 4 MiB.
constexpr int64_t kMostSampleDigits = int64_t{3} << 20;

// The log-probability of each of target_ids, sample by sample. Throws Error(kUsage) for a model
// without head.
std::vector<std::vector<double>> ReplaySamples(const LoadedModel& loaded,
                                               std::span<const Sample> samples, int threads);

// What each sample's text and picture are in the space that both share, as Sample::shared has them.
// Precondition: the model has a shared_width.
std::vector<Sample::SharedVectors> ReplaySharedVectors(const LoadedModel& loaded,
                                                       std::span<const Sample> samples,
                                                       int threads);

// A text as a model reads it, of a language model as if it had written it, of a model of items one
// that has a text alone; the rest is for RemakeSamples. Precondition: the model reads tokens, and
// writes no symbols.
Sample SampleOf(const ModelConfig& config, const Vocabulary& vocabulary, const std::string& text);

// The samples as the reference kernels give them, for models that LibTorch cannot run: of a
// translation model their sources with the outputs of greedy search, else their own outputs. Throws
// as ReplaySamples and Translator do.
std::vector<Sample> RemakeSamples(const std::shared_ptr<const Model>& model,
                                  std::vector<Sample> samples);

}  // namespace attend

#endif  // ATTEND_TASKS_SAMPLES_H_
