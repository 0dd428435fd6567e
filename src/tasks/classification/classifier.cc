#include "attend/classifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "attend/error.h"
#include "media/fit_picture.h"
#include "media/patch_numbers.h"
#include "media/picture_codec.h"
#include "model/model_directory.h"
#include "search/scores.h"
#include "tasks/encoder_runner.h"
#include "text/word_ids.h"

namespace attend {
namespace {

constexpr EncoderRunner::Purpose kClassification = {"classification", HeadKind::kLabels,
                                                    /*of_tokens=*/false};

// Whose numbers are in memory at once.
constexpr size_t kPicturesTogether = 256;

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
  // Throws Error(kUsage) for a model that reads something else.
  void CheckReads(bool pictures) const {
    if (runner.loaded().config().patches.has_value() == pictures) return;
    throw Error(ErrorKind::kUsage, pictures ? "the model reads text, expected one of pictures"
                                            : "the model reads pictures, expected one of text");
  }
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
  impl_->CheckReads(/*pictures=*/false);
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
  impl_->CheckReads(/*pictures=*/true);
  const PatchInput& input = *impl_->runner.loaded().config().patches;
  std::vector<std::vector<uint8_t>> pictures;
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string name = i < names.size() ? names[i] : fmt::format("picture {}", i + 1);
    pictures.push_back(FitPicture(DecodePicture(files[i], name, input.channels), input).pixels);
  }
  return ClassifyPixels(pictures, stop);
}

std::vector<Classification> Classifier::ClassifyPixels(
    std::span<const std::vector<uint8_t>> pictures, const std::atomic<bool>* stop) const {
  impl_->CheckReads(/*pictures=*/true);
  const PatchNumbers numbers(*impl_->runner.loaded().config().patches);
  std::vector<Classification> all;
  for (size_t first = 0; first < pictures.size(); first += kPicturesTogether) {
    std::vector<EncoderInput> inputs;
    for (const std::vector<uint8_t>& pixels :
         pictures.subspan(first, std::min(kPicturesTogether, pictures.size() - first)))
      inputs.push_back({{}, {}, numbers.Of(pixels)});
    std::ranges::move(impl_->Run(inputs, stop), std::back_inserter(all));
  }
  return all;
}

bool Classifier::reads_pictures() const {
  return impl_->runner.loaded().config().patches.has_value();
}

const std::vector<std::string>& Classifier::labels() const { return impl_->runner.labels(); }

std::string Classifier::instruction_set() const {
  return impl_->runner.loaded().weights.kernels.name;
}

}  // namespace attend
