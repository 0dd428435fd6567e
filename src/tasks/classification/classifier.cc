#include "attend/classifier.h"

#include <algorithm>
#include <utility>

#include "model/model_directory.h"
#include "search/scores.h"
#include "tasks/encoder_runner.h"
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
  std::vector<EncoderInput> inputs;
  std::vector<Classification> found(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    TextIds read = EncodeCut(runner.loaded().source(), texts[i], runner.max_tokens());
    found[i].cut = read.cut;
    inputs.push_back({std::move(read.ids), {}});
  }
  const auto take = [&](size_t text, std::span<const float> logits_L) {
    found[text].classes = ProbabilitiesOf(logits_L, runner.labels());
  };
  runner.Run(inputs, take, stop);
  return found;
}

const std::vector<std::string>& Classifier::labels() const { return impl_->runner.labels(); }

std::string Classifier::instruction_set() const {
  return impl_->runner.loaded().weights.kernels.name;
}

}  // namespace attend
