// How good a translation is, from it and its source alone: by a model of classification that reads
// `source ||| translation` and whose labels are numbers, such as steps of chrF.
#ifndef ATTEND_TASKS_TRANSLATION_QUALITY_ESTIMATOR_H_
#define ATTEND_TASKS_TRANSLATION_QUALITY_ESTIMATOR_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "attend/classifier.h"
#include "attend/translator.h"

namespace attend {

// Immutable; safe to use from many threads.
class QualityEstimator {
 public:
  // `name` is that of the model in messages. Throws Error(kUsage) for a model that does not
  // classify text, Error(kInput) for a label that is no number from 0 to 100.
  QualityEstimator(std::shared_ptr<const LoadedModel> loaded, const std::string& name);

  // The mean of the labels by their probabilities, 0 to 100; 0 where the translation has no words.
  // Of a pair that is longer than the model can read, what its beginning says. Runs on the caller's
  // thread; what other callers ask changes nothing.
  double Estimate(std::string_view source, std::string_view translation) const;

 private:
  Classifier classifier_;
  std::map<std::string, double> value_of_label_;
};

// The options' estimator, with their instruction set and as its weights are stored. Null: they
// name none. Throws as attend::Load and the constructor do.
std::shared_ptr<const QualityEstimator> LoadEstimator(const TranslatorOptions& options);

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSLATION_QUALITY_ESTIMATOR_H_
