#include "train/tasks/language_model/language_model_options.h"

#include "train/train_options.h"

namespace attend {

std::unique_ptr<TaskOptions> LanguageModelOptions::Clone() const {
  return std::make_unique<LanguageModelOptions>(*this);
}

LanguageModelOptions& LanguageModelOf(TrainOptions& options) {
  return dynamic_cast<LanguageModelOptions&>(*options.task);
}

const LanguageModelOptions& LanguageModelOf(const TrainOptions& options) {
  return dynamic_cast<const LanguageModelOptions&>(*options.task);
}

}  // namespace attend
