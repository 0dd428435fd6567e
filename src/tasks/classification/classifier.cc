#include "attend/classifier.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "attend/error.h"
#include "model/model_directory.h"
#include "search/scores.h"
#include "tasks/encoder_runner.h"
#include "tasks/picture_inputs.h"
#include "text/word_ids.h"

namespace attend {
namespace {

constexpr EncoderRunner::Purpose kClassification = {"classification", HeadKind::kLabels,
                                                    /*of_tokens=*/false};

// Softmax.
std::vector<ClassProbability> ProbabilitiesOf(std::span<const float> logits_L,
                                              const std::vector<std::string>& labels) {
  const ExpSum sum(logits_L);
  std::vector<ClassProbability> classes;
  for (size_t i = 0; i < labels.size(); ++i)
    classes.push_back({labels[i], sum.Share(static_cast<double>(logits_L[i]))});
  std::ranges::stable_sort(classes, std::greater<>(), &ClassProbability::probability);
  return classes;
}

}  // namespace

struct Classifier::Impl {
  const ModelConfig& config() const { return runner.loaded().config(); }
  std::vector<Classification> Run(std::span<const EncoderInput> inputs,
                                  const std::atomic<bool>* stop) const {
    std::vector<Classification> found(inputs.size());
    const auto take = [&](size_t item, std::span<const float> logits_L) {
      found[item].classes = ProbabilitiesOf(logits_L, runner.labels());
    };
    runner.Run(inputs, take, stop);
    return found;
  }

  EncoderRunner runner;
};

std::unique_ptr<Classifier> Classifier::Load(const std::string& directory,
                                             const ClassifierOptions& options) {
  return std::make_unique<Classifier>(LoadModel(directory), options);
}

Classifier::Classifier(std::shared_ptr<const Model> model, const ClassifierOptions& options)
    : Classifier(LoadWith(std::move(model), options), options.threads) {}

Classifier::Classifier(std::shared_ptr<const LoadedModel> loaded, int threads)
    : impl_(new Impl{EncoderRunner(std::move(loaded), kClassification, threads)}) {}

Classifier::~Classifier() = default;

std::vector<Classification> Classifier::Classify(std::span<const std::string> texts,
                                                 const std::atomic<bool>* stop) const {
  const EncoderRunner& runner = impl_->runner;
  CheckReads(impl_->config(), /*pictures=*/false);
  std::vector<EncoderInput> inputs;
  std::vector<bool> cut;
  for (const std::string& text : texts) {
    TextIds read = EncodeCut(runner.loaded().source(), text, runner.max_tokens());
    cut.push_back(read.cut);
    inputs.push_back({std::move(read.ids), {}});
  }
  std::vector<Classification> found = impl_->Run(inputs, stop);
  for (size_t i = 0; i < found.size(); ++i) found[i].cut = cut[i];
  return found;
}

std::vector<Classification> Classifier::ClassifyPictures(std::span<const std::string> files,
                                                         std::span<const std::string> names,
                                                         const std::atomic<bool>* stop) const {
  CheckReads(impl_->config(), /*pictures=*/true);
  return ClassifyPixels(PixelsOfFiles(files, names, *impl_->config().patches), stop);
}

std::vector<Classification> Classifier::ClassifyPixels(
    std::span<const std::vector<uint8_t>> pictures, const std::atomic<bool>* stop) const {
  CheckReads(impl_->config(), /*pictures=*/true);
  std::vector<Classification> all;
  ForPictures(pictures, *impl_->config().patches,
              [&](std::span<const EncoderInput> inputs, size_t) {
                std::ranges::move(impl_->Run(inputs, stop), std::back_inserter(all));
              });
  return all;
}

bool Classifier::reads_pictures() const { return impl_->config().patches.has_value(); }

const std::vector<std::string>& Classifier::labels() const { return impl_->runner.labels(); }

std::string Classifier::instruction_set() const {
  return impl_->runner.loaded().weights.kernels.name;
}

}  // namespace attend
