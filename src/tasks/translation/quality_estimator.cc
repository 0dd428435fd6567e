#include "tasks/translation/quality_estimator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <utility>
#include <vector>

#include "attend/error.h"
#include "tasks/loaded_model.h"
#include "text/lines.h"
#include "text/text_parts.h"

namespace attend {
namespace {

constexpr int kThreadOfCaller = 1;

// As recipes/quality/tables.py writes it: a line without tabs, words divided by single spaces.
std::string TextOfPair(std::string_view source, std::string_view translation) {
  const std::string pair = fmt::format("{} ||| {}", source, translation);
  return fmt::format("{}", fmt::join(WordsOfLine(WithoutLineEnds(pair)), " "));
}

std::shared_ptr<const LoadedModel> CheckClassifiesText(std::shared_ptr<const LoadedModel> loaded,
                                                       const std::string& name) {
  const ModelConfig& config = loaded->config();
  if (config.task == "classification" && !config.patches) return loaded;
  throw Error(ErrorKind::kUsage,
              fmt::format("estimator '{}' is a model of {}{}, expected one of classification of "
                          "text",
                          name, config.task, config.patches ? " of pictures" : ""));
}

double ValueOfLabel(const std::string& label, const std::string& name) {
  double value = 0;
  const char* end = label.data() + label.size();
  const auto [rest, failure] = std::from_chars(label.data(), end, value);
  // NaN is in no range.
  if (failure == std::errc() && rest == end && value >= 0 && value <= 100) return value;
  throw Error(
      ErrorKind::kInput,
      fmt::format("estimator '{}' has the label '{}', expected numbers from 0 to 100 alone: "
                  "train it on steps of chrF, as recipes/quality does",
                  name, label));
}

}  // namespace

QualityEstimator::QualityEstimator(std::shared_ptr<const LoadedModel> loaded,
                                   const std::string& name)
    : classifier_(CheckClassifiesText(std::move(loaded), name), kThreadOfCaller) {
  for (const std::string& label : classifier_.labels())
    value_of_label_[label] = ValueOfLabel(label, name);
}

double QualityEstimator::Estimate(std::string_view source, std::string_view translation) const {
  if (WordsOfLine(translation).empty()) return 0;
  const std::vector<std::string> text = {TextOfPair(source, translation)};
  const Classification found = classifier_.Classify(text)[0];
  double mean = 0;
  for (const auto& [label, probability] : found.classes)
    mean += value_of_label_.at(label) * probability;
  return mean;
}

std::shared_ptr<const QualityEstimator> LoadEstimator(const TranslatorOptions& options) {
  if (options.estimator.empty()) return nullptr;
  auto loaded = Load(options.estimator, {.instruction_set = options.instruction_set});
  return std::make_shared<QualityEstimator>(std::move(loaded), options.estimator);
}

}  // namespace attend
