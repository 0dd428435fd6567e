#include "train/tasks/masked_language_model/masked_language_model_options.h"

#include "train/train_options.h"

namespace attend {

std::unique_ptr<TaskOptions> MaskedLanguageModelOptions::Clone() const {
  return std::make_unique<MaskedLanguageModelOptions>(*this);
}

FieldList MaskedLanguageModelOptions::FieldsFor(const TrainOptions& options) {
  FieldList fields = text.FieldsFor(options);
  fields.Group("Masking").Nest("", Fields(masking), kIdentity);
  return fields;
}

MaskedLanguageModelOptions& MaskedLanguageModelOf(TrainOptions& options) {
  return dynamic_cast<MaskedLanguageModelOptions&>(*options.task);
}

const MaskedLanguageModelOptions& MaskedLanguageModelOf(const TrainOptions& options) {
  return dynamic_cast<const MaskedLanguageModelOptions&>(*options.task);
}

}  // namespace attend
